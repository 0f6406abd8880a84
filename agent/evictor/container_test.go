package evictor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/agent/copilot"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/nodeqos/eviction"
)

// Kill implements ContainerKiller.
func (n *node) Kill(_ context.Context, ref eviction.Ref) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.killed = append(n.killed, ref.Agent+" "+ref.Name)
	return n.unkillable
}

// addContainer adds a container of YARN that has worked for some time.
func (n *node) addContainer(name string, used int64, work time.Duration) {
	n.containers = append(n.containers, eviction.Container{
		Agent: "yarn", Namespace: "yarn", Name: name, Priority: 5500, CPUTime: &work, Used: &podrequest.Amount{Memory: used},
	})
}

func (n *node) wantKilled(t *testing.T, want ...string) {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	if diff := cmp.Diff(want, n.killed); diff != "" {
		t.Errorf("killed (-want +got):\n%s", diff)
	}
}

func TestContainersOfOtherSchedulersAreKilledBesidePods(t *testing.T) {
	onNode(t, func(t *testing.T, n *node) {
		n.add("lower", 5000, 2*gib)
		n.add("same", 5500, 40*gib)
		n.addContainer("old", 3*gib, time.Hour)
		n.addContainer("young", 3*gib, time.Second)
		n.used = 82 * gib // of 100, at most 78
		n.decide()
		n.want(t, "lower of uid-lower")
		n.wantKilled(t, "yarn young")
		n.decide() // both are still there
		n.wantKilled(t, "yarn young")
		entries := n.options.Audit.After(0, 10)
		if len(entries) != 2 || entries[1].Object != "container yarn/young" || entries[1].New != "killed" || entries[1].Owner != "BEMemoryEvict" || entries[1].Why == "" {
			t.Errorf("audit %+v", entries)
		}
		if counts := n.Counts(); counts[eviction.BEMemoryEvict] != 2 {
			t.Errorf("counts %v", counts)
		}
		if evicted := n.Evicted(); len(evicted) != 2 || evicted[1].Namespace != "yarn" || evicted[1].Name != "young" {
			t.Errorf("evicted %+v", evicted)
		}
	})
}

func TestContainersThatCannotBeKilledStayAndOthersGo(t *testing.T) {
	for name, test := range map[string]struct {
		err        error
		wantSecond []string
		wantAudit  string
	}{
		"the agent refuses":          {err: errors.New("the agent answered 500"), wantSecond: []string{"yarn first", "yarn second"}, wantAudit: "running"},
		"it is gone before the kill": {err: fmt.Errorf("kill: %w", fs.ErrNotExist), wantSecond: []string{"yarn first"}, wantAudit: "killed"},
	} {
		t.Run(name, func(t *testing.T) {
			onNode(t, func(t *testing.T, n *node) {
				n.addContainer("first", 10*gib, time.Second)
				n.addContainer("second", 10*gib, time.Hour)
				n.unkillable = test.err
				n.used = 85 * gib
				n.decide()
				n.wantKilled(t, "yarn first")
				n.decide()
				n.wantKilled(t, test.wantSecond...)
				if entries := n.options.Audit.After(0, 10); len(entries) == 0 || entries[0].New != test.wantAudit {
					t.Errorf("audit %+v", entries)
				}
			})
		})
	}
}

// TestAnAgentThatDoesNotAnswerHoldsNoEvictionUp: none of its other containers is asked for, and pods go.
func TestAnAgentThatDoesNotAnswerHoldsNoEvictionUp(t *testing.T) {
	onNode(t, func(t *testing.T, n *node) {
		for i := range 20 {
			n.addContainer(fmt.Sprintf("task-%02d", i), gib, time.Second)
		}
		n.add("pod", 5500, 20*gib)
		n.unkillable = fmt.Errorf("kill: %w", copilot.ErrUnanswered)
		n.used = 80 * gib // 2 to release
		n.decide()
		n.wantKilled(t, "yarn task-00", "yarn task-01")
		n.decide()
		n.want(t, "pod of uid-pod")
		n.pods, n.unkillable = nil, nil
		time.Sleep(refusedInterval) // the bubble's time
		n.decide()
		n.wantKilled(t, "yarn task-00", "yarn task-01", "yarn task-00", "yarn task-01")
	})
}

// TestContainersThatWentAreForgotten: one of the same name that comes later is another.
func TestContainersThatWentAreForgotten(t *testing.T) {
	onNode(t, func(t *testing.T, n *node) {
		n.addContainer("task", 10*gib, time.Second)
		n.used = 85 * gib
		n.decide()
		n.wantKilled(t, "yarn task")
		back := n.containers
		n.containers, n.used = nil, 50*gib
		n.decide()
		n.containers, n.used = slices.Clone(back), 85*gib
		time.Sleep(5 * time.Second) // the bubble's time
		n.decide()
		n.wantKilled(t, "yarn task", "yarn task")
	})
}
