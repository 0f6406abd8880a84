package hooks

import (
	"strconv"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
)

func TestWhatWasToldIsKnownUntilAContainerStarts(t *testing.T) {
	clock := clocktesting.NewFakeClock(start)
	pending := NewPending(clock)
	reported := &Resources{CPUs: "1"}
	for _, container := range []string{"a", "b", "c"} {
		pending.Made("pod", container, reported)
	}
	if pending.Started("a") != reported || pending.Started("a") != nil {
		t.Error("what was told is not known once")
	}
	pending.Forget("another")
	if pending.Started("b") != reported {
		t.Error("what was told is forgotten with another pod")
	}
	pending.Forget("pod")
	if pending.Started("c") != nil {
		t.Error("what was told is known when the pod has gone")
	}
}

// TestContainersThatNeverStartAreForgotten even though their removal is never reported: a pod may fail to start one repeatedly.
func TestContainersThatNeverStartAreForgotten(t *testing.T) {
	clock := clocktesting.NewFakeClock(start)
	pending := NewPending(clock)
	for i := range 1000 {
		pending.Made("pod", strconv.Itoa(i), &Resources{})
		clock.Step(time.Minute)
	}
	if got := len(pending.containers); got > 12 {
		t.Errorf("%d containers are remembered", got)
	}
	pending.Clear()
	if len(pending.containers) > 0 {
		t.Error("containers are remembered after all were forgotten")
	}
}
