package prediction

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/agent/metrics"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/podrequest"
)

var learnedAt = time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)

// learned is a node that knows two pods for two days.
func learned() (*Node, []Pod) {
	n := NewNode(Options{})
	pods := []Pod{
		{UID: "a", Band: extension.PriorityProd, Request: podrequest.Amount{MilliCPU: 4000, Memory: 8 << 30}, Started: learnedAt.Add(-50 * time.Hour)},
		{UID: "b", Band: extension.PriorityProd, Request: podrequest.Amount{MilliCPU: 2000, Memory: 4 << 30}, Started: learnedAt.Add(-50 * time.Hour)},
	}
	for minute := range 2 * 24 * 60 {
		at := learnedAt.Add(time.Duration(minute-2*24*60+1) * time.Minute)
		n.Train(at, TrainInterval, []Sample{
			{UID: "a", Band: extension.PriorityProd, Usage: metrics.Usage{NanoCores: int64(minute%7) * 1e8, Memory: 1 << 30}},
			{UID: "b", Band: extension.PriorityProd, Usage: metrics.Usage{NanoCores: 5e8, Memory: int64(minute%3+1) << 28}},
		}, metrics.Usage{NanoCores: 2e8, Memory: 1 << 28})
	}
	return n, pods
}

// stored sends a checkpoint through its encoding.
func stored(t *testing.T, from Checkpoint) Checkpoint {
	t.Helper()
	encoded, err := json.Marshal(from)
	if err != nil {
		t.Fatal(err)
	}
	var out Checkpoint
	if err := json.Unmarshal(encoded, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestARestartForgetsNothing(t *testing.T) {
	before, pods := learned()
	allocatable := podrequest.Amount{MilliCPU: 16000, Memory: 64 << 30}
	want := before.Estimate(learnedAt, pods, allocatable)
	if want.Reclaimable.MilliCPU == 0 || want.ColdPods != 0 {
		t.Fatalf("nothing was learned: %+v", want)
	}
	after := NewNode(Options{})
	if err := after.Restore(stored(t, before.Checkpoint(learnedAt)), learnedAt.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, after.Estimate(learnedAt, pods, allocatable)); diff != "" {
		t.Errorf("estimate after a restart (-want +got):\n%s", diff)
	}
}

func TestWhatIsOldOrBrokenIsNotRestored(t *testing.T) {
	tests := map[string]struct {
		change      func(*Checkpoint)
		after       time.Duration
		wantPods    int
		wantClasses bool
		wantProblem string
	}{
		"at once":                        {wantPods: 2, wantClasses: true},
		"pods expire after half an hour": {after: 31 * time.Minute, wantClasses: true},
		"classes expire after a day":     {after: 25 * time.Hour},
		"the clock was set back a little": {
			after: -4 * time.Minute, wantPods: 2, wantClasses: true,
		},
		"a checkpoint of the future": {after: -time.Hour, wantProblem: "in the future"},
		"one pod cannot be decoded": {
			change: func(c *Checkpoint) {
				c.Pods["a"] = PodCheckpoint{Trained: learnedAt, ModelCheckpoint: ModelCheckpoint{CPU: []byte("x")}}
			},
			wantPods: 1, wantClasses: true, wantProblem: `pod "a"`,
		},
		"a class cannot be decoded": {
			change: func(c *Checkpoint) { c.Prod.Memory = nil }, wantPods: 2, wantProblem: "class prod",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			before, _ := learned()
			from := stored(t, before.Checkpoint(learnedAt))
			if test.change != nil {
				test.change(&from)
			}
			after := NewNode(Options{})
			err := after.Restore(from, learnedAt.Add(test.after))
			if (err != nil) != (test.wantProblem != "") || err != nil && !strings.Contains(err.Error(), test.wantProblem) {
				t.Errorf("problem %v, want %q", err, test.wantProblem)
			}
			if len(after.pods) != test.wantPods || !after.prod.cpu.Empty() != test.wantClasses {
				t.Errorf("%d pods and classes %t, want %d and %t", len(after.pods), !after.prod.cpu.Empty(), test.wantPods, test.wantClasses)
			}
		})
	}
}

func TestACheckpointIsBounded(t *testing.T) {
	n := NewNode(Options{})
	for i := range maxPods + 10 {
		n.TrainPod(learnedAt.Add(time.Duration(i)*time.Millisecond), TrainInterval, Sample{UID: types.UID(fmt.Sprint(i)), Band: extension.PriorityProd})
	}
	got := n.Checkpoint(learnedAt)
	if _, kept := got.Pods[types.UID(fmt.Sprint(maxPods+9))]; len(got.Pods) != maxPods || !kept {
		t.Errorf("%d pods, the latest among them: %t", len(got.Pods), kept)
	}
	if encoded, err := json.Marshal(got); err != nil || len(encoded) > 1<<20 {
		t.Errorf("%d bytes, %v", len(encoded), err)
	}
}
