package evictor

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"koordinator.sh/koord/agent/audit"
	"koordinator.sh/koord/agent/state"
	"koordinator.sh/koord/decision/nodeqos/eviction"
)

// protected is what the API server answers when a budget has nothing left.
func protected(string) error {
	err := apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 0)
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{Type: policyv1.DisruptionBudgetCause})
	return err
}

// coveredTwice is what the API server answers of a pod that two budgets cover.
func coveredTwice(string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusInternalServerError,
		Message: "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
	}}
}

// seconds takes so many readings, a second apart; pods that leave are gone at the next one.
func (n *node) seconds(count int) {
	for range count {
		n.decide()
		time.Sleep(time.Second)
		n.pods = slices.DeleteFunc(n.pods, func(pod *state.Pod) bool { return n.isLeaving(pod.Object.UID) })
	}
}

func TestABudgetIsOverriddenWhenMemoryIsAboutToRunOut(t *testing.T) {
	for name, refuse := range map[string]func(string) error{"that has nothing left": protected, "beside another one of the same pod": coveredTwice} {
		t.Run(name, func(t *testing.T) { overridden(t, refuse) })
	}
}

func overridden(t *testing.T, refuse func(string) error) {
	onNode(t, func(t *testing.T, n *node) {
		n.options.InDanger = true
		n.add("first", 5000, 10*gib)
		n.add("second", 5100, 10*gib)
		n.refuse = refuse
		n.used = 85 * gib
		n.seconds(30)
		n.want(t) // budgets are respected while there is memory
		n.used = 98 * gib
		n.seconds(4)
		n.want(t)
		n.seconds(3)
		n.want(t, "first of uid-first, by force")
		entries := n.options.Audit.Latest(0, 1)
		if len(entries) != 1 || entries[0].New != "deleted" || !strings.Contains(entries[0].Why, "its PodDisruptionBudget was overridden: PodDisruptionBudgets protect all 2 pods") {
			t.Errorf("audit %+v", entries)
		}
		if told := <-n.events.Events; !strings.Contains(told, "PodDisruptionBudget was overridden") {
			t.Errorf("event %q", told)
		}
		n.used = 90 * gib
		n.seconds(30)
		n.want(t, "first of uid-first, by force")
	})
}

func TestWithoutTheRightToDeleteItIsSaid(t *testing.T) {
	onNode(t, func(t *testing.T, n *node) {
		n.options.InDanger = true
		n.add("first", 5000, 10*gib)
		n.refuse, n.used = protected, 99*gib
		n.forbid = apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "first", nil)
		n.seconds(60)
		n.want(t)
		if entries := n.options.Audit.Latest(0, 100); len(entries) < 2 || len(entries) > 4 || !slices.ContainsFunc(entries, func(e audit.Entry) bool {
			return strings.Contains(e.Error, "forbidden") && strings.Contains(e.Why, "overridden")
		}) {
			t.Errorf("%d entries: %+v", len(entries), entries)
		}
	})
}

func TestABudgetIsNotOverridden(t *testing.T) {
	for name, change := range map[string]func(*node){
		"where the agent may not": func(n *node) { n.options.InDanger = false },
		"when the API server is busy": func(n *node) {
			n.refuse = func(string) error { return apierrors.NewTooManyRequests("too many requests", 1) }
		},
		"when it is away":          func(n *node) { n.refuse = func(string) error { return fmt.Errorf("connection refused") } },
		"when readings are missed": func(*node) {},
	} {
		t.Run(name, func(t *testing.T) {
			onNode(t, func(t *testing.T, n *node) {
				n.options.InDanger, n.refuse, n.used = true, protected, 99*gib
				n.add("first", 5000, 10*gib)
				change(n)
				for range 40 {
					n.seconds(1)
					if name == "when readings are missed" {
						time.Sleep(3 * time.Second)
					}
				}
				n.want(t)
				if entries := n.options.Audit.Last(); entries > 5 {
					t.Errorf("%d entries in the audit log about one pod that stays", entries)
				}
			})
		})
	}
}

// TestAThresholdOfZeroEmptiesNoNode has every pod go by configuration: for an hour, with a pod started for each that goes.
func TestAThresholdOfZeroEmptiesNoNode(t *testing.T) {
	for name, threshold := range map[string][2]int64{"zero": {0, 0}, "below what is used": {10, 5}} {
		t.Run(name, func(t *testing.T) {
			onNode(t, func(t *testing.T, n *node) {
				n.threshold, n.lower, n.used = threshold[0], threshold[1], 50*gib
				for i := range 200 {
					n.add(fmt.Sprintf("pod-%03d", i), 5000, gib/4)
				}
				budget := eviction.DefaultBudget()
				var at []time.Time
				for range 3600 {
					n.seconds(1)
					for len(at) < len(n.evicted) {
						at = append(at, time.Now())
						n.add(fmt.Sprintf("new-%03d", len(at)), 5000, gib/4)
					}
					recent := 0
					for _, gone := range at {
						if time.Since(gone) < budget.Window-2*time.Second {
							recent++
						}
					}
					if recent > budget.PerWindow {
						t.Fatalf("%d pods went within %s", recent, budget.Window)
					}
				}
				if len(at) < budget.PerWindow || len(at) > 2*budget.Breaker.Evictions {
					t.Errorf("%d pods went within an hour, want the breaker to stop at %d", len(at), budget.Breaker.Evictions)
				}
			})
		})
	}
}

// TestAClockThatIsSetEvictsNobodyElse sets the clock of readings by an hour while a pod is leaving and another one was refused.
func TestAClockThatIsSetEvictsNobodyElse(t *testing.T) {
	for _, jump := range []time.Duration{time.Hour, -time.Hour} {
		onNode(t, func(t *testing.T, n *node) {
			n.add("protected", 5000, 10*gib)
			n.add("large", 5100, 10*gib)
			n.add("small", 5200, 1*gib)
			n.refuse = func(name string) error {
				if name == "protected" {
					return protected(name)
				}
				return nil
			}
			n.used = 82 * gib
			n.seconds(3)
			n.want(t, "large of uid-large")
			n.used = 72 * gib
			n.ahead.Store(int64(jump))
			n.seconds(30)
			n.want(t, "large of uid-large")
			n.used = 81 * gib
			n.seconds(30) // what was evicted in the future does not hold this up
			n.want(t, "large of uid-large", "small of uid-small")
			if jump < 0 && len(n.windows.samples) > 70 || len(n.windows.samples) < 30 {
				t.Errorf("%d samples in a window of a minute", len(n.windows.samples))
			}
		})
	}
}

// TestNobodyIsEvictedByAnOldReading has the API server take ten seconds for an eviction, in which the node recovers.
func TestNobodyIsEvictedByAnOldReading(t *testing.T) {
	onNode(t, func(t *testing.T, n *node) {
		for priority, name := range []string{"first", "second", "third"} {
			n.add(name, int32(5000+priority), gib)
		}
		n.refuse = func(string) error {
			time.Sleep(callTimeout)
			return nil
		}
		n.used = 82 * gib
		n.decide() // all three are to go
		n.used = 50 * gib
		time.Sleep(time.Minute)
		n.decide()
		n.want(t, "first of uid-first")
		if diff := cmp.Diff([]Evicted{{Namespace: "ns", Name: "first", Feature: eviction.BEMemoryEvict}}, n.Evicted()); diff != "" {
			t.Errorf("remembered (-want +got):\n%s", diff)
		}
	})
}
