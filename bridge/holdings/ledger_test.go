package holdings_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/bridge/holdings"
	"koordinator.sh/koord/decision/core/podrequest"
)

func batchOf(cpu, memory int64) corev1.ResourceList {
	return corev1.ResourceList{
		extension.BatchCPU:    *resource.NewQuantity(cpu, resource.DecimalSI),
		extension.BatchMemory: *resource.NewQuantity(memory, resource.BinarySI),
	}
}

// pod requests batch on a node; without one it waits.
func pod(name, node string, cpu, memory int64, change ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)},
		Spec:       corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: batchOf(cpu, memory)}}}},
	}
	if node == "" {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
	}
	for _, c := range change {
		c(p)
	}
	return p
}

func reservation(node string, phase schedulingv1alpha1.ReservationPhase, allocatable, allocated corev1.ResourceList) *schedulingv1alpha1.Reservation {
	return &schedulingv1alpha1.Reservation{
		ObjectMeta: metav1.ObjectMeta{UID: "reservation"},
		Status:     schedulingv1alpha1.ReservationStatus{Phase: phase, NodeName: node, Allocatable: allocatable, Allocated: allocated},
	}
}

func isAgent(p *corev1.Pod) bool { return p.Labels["agent"] == "yes" }

func TestLedger(t *testing.T) {
	succeeded := func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }
	gated := func(p *corev1.Pod) { p.Status.Conditions[0].Reason = corev1.PodReasonSchedulingGated }
	agent := func(p *corev1.Pod) { p.Labels = map[string]string{"agent": "yes"} }
	tests := map[string]struct {
		fill        func(*holdings.Ledger)
		want        podrequest.Amount
		wantWaiting []podrequest.Amount
		wantAgents  int
	}{
		"pods of the node count, those of others do not": {
			fill: func(l *holdings.Ledger) {
				l.SetPod(pod("a", "n", 1000, 10))
				l.SetPod(pod("b", "n", 500, 5))
				l.SetPod(pod("c", "m", 1, 1))
			},
			want: podrequest.Amount{MilliCPU: 1500, Memory: 15},
		},
		"a pod that has ended holds nothing": {
			fill: func(l *holdings.Ledger) {
				l.SetPod(pod("a", "n", 1000, 10))
				l.SetPod(pod("a", "n", 1000, 10, succeeded))
			},
		},
		"a pod that is gone holds nothing": {
			fill: func(l *holdings.Ledger) {
				l.SetPod(pod("a", "n", 1000, 10))
				l.Remove("a")
				l.Remove("never was")
			},
		},
		"a pod that was resized holds its new request": {
			fill: func(l *holdings.Ledger) {
				l.SetPod(pod("a", "n", 1000, 10))
				l.SetPod(pod("a", "n", 2000, 20))
			},
			want: podrequest.Amount{MilliCPU: 2000, Memory: 20},
		},
		"a pod that waits, until it has its node": {
			fill: func(l *holdings.Ledger) {
				l.SetPod(pod("a", "", 1000, 10))
				l.SetPod(pod("b", "", 2000, 20))
				l.SetPod(pod("b", "n", 2000, 20))
			},
			want: podrequest.Amount{MilliCPU: 2000, Memory: 20}, wantWaiting: []podrequest.Amount{{MilliCPU: 1000, Memory: 10}},
		},
		"gated pods, and those that need no batch, wait for something else": {
			fill: func(l *holdings.Ledger) {
				l.SetPod(pod("a", "", 1000, 10, gated))
				l.SetPod(pod("b", "", 0, 0))
			},
		},
		"a reservation holds what its owners have not taken": {
			fill: func(l *holdings.Ledger) {
				l.SetPod(pod("owner", "n", 1000, 10))
				l.SetReservation(reservation("n", schedulingv1alpha1.ReservationAvailable, batchOf(3000, 30), batchOf(1000, 10)))
			},
			want: podrequest.Amount{MilliCPU: 3000, Memory: 30},
		},
		"a reservation that has ended holds nothing": {
			fill: func(l *holdings.Ledger) {
				l.SetReservation(reservation("n", schedulingv1alpha1.ReservationSucceeded, batchOf(3000, 30), nil))
			},
		},
		"agents of the node": {
			fill: func(l *holdings.Ledger) {
				l.SetPod(pod("a", "n", 0, 0, agent))
				l.SetPod(pod("b", "n", 0, 0, agent))
				l.SetPod(pod("b", "n", 0, 0))
			},
			wantAgents: 1,
		},
		"requests that no node has do not overflow": {
			fill: func(l *holdings.Ledger) {
				for i := range 4 {
					l.SetPod(pod(fmt.Sprint(i), "n", math.MaxInt64, 0))
				}
			},
			want: podrequest.Amount{MilliCPU: 4 << 50},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			ledger := holdings.NewLedger(isAgent, func() {})
			test.fill(ledger)
			held, agents := ledger.Of("n")
			if held != test.want || len(agents) != test.wantAgents {
				t.Errorf("Of() = %+v and %d agents, want %+v and %d", held, len(agents), test.want, test.wantAgents)
			}
			if diff := cmp.Diff(test.wantWaiting, ledger.Waiting(10)); diff != "" {
				t.Errorf("Waiting() (-want +got):\n%s", diff)
			}
		})
	}
}

// TestTheLedgerIsTheSumOfWhatIsThere: whatever comes, changes and goes, in any order.
func TestTheLedgerIsTheSumOfWhatIsThere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ledger, there := holdings.NewLedger(isAgent, func() {}), map[string]*corev1.Pod{}
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			name := fmt.Sprint(rapid.IntRange(0, 5).Draw(t, "pod"))
			if rapid.IntRange(0, 3).Draw(t, "what") == 0 {
				delete(there, name)
				ledger.Remove(types.UID(name))
				continue
			}
			p := pod(name, rapid.SampledFrom([]string{"", "n", "m"}).Draw(t, "node"), rapid.Int64Range(0, 9).Draw(t, "cpu"), 1)
			there[name] = p
			ledger.SetPod(p)
		}
		for _, node := range []string{"n", "m"} {
			var want podrequest.Amount
			for _, p := range there {
				if p.Spec.NodeName == node {
					want = want.Add(podrequest.Of(p).Requests.Batch)
				}
			}
			if got, _ := ledger.Of(node); got != want {
				t.Errorf("node %s: %+v, want %+v", node, got, want)
			}
		}
	})
}

// TestTransformKeepsWhatTheLedgerReads: a pod without the rest counts the same.
func TestTransformKeepsWhatTheLedgerReads(t *testing.T) {
	whole := pod("a", "", 1000, 10, func(p *corev1.Pod) {
		p.Spec.InitContainers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: batchOf(5000, 1)}}}
		p.Spec.Overhead = batchOf(100, 1)
		p.Spec.Volumes = []corev1.Volume{{Name: "x"}}
	})
	small, err := holdings.Transform(whole.DeepCopy())
	if err != nil {
		t.Fatal(err)
	}
	agent := &corev1.Pod{Spec: corev1.PodSpec{Hostname: "nm-0", Subdomain: "nm", HostNetwork: true}, Status: corev1.PodStatus{PodIP: "10.0.0.7"}}
	kept, err := holdings.Transform(agent.DeepCopy())
	if diff := cmp.Diff(agent, kept, cmpopts.EquateEmpty()); diff != "" || err != nil {
		t.Errorf("Transform() of what says where an agent is (-want +got):\n%s, %v", diff, err)
	}
	for name, p := range map[string]*corev1.Pod{"whole": whole, "small": small.(*corev1.Pod)} {
		ledger := holdings.NewLedger(isAgent, func() {})
		ledger.SetPod(p)
		if diff := cmp.Diff([]podrequest.Amount{{MilliCPU: 5100, Memory: 11}}, ledger.Waiting(1)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
