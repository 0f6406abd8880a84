package evictor

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/agent/state"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/nodeqos/eviction"
)

// addCPU adds a best-effort pod that agrees to be evicted, with its batch-cpu and what it uses, in milli-cores.
func (n *node) addCPU(name string, priority int32, requested, used int64) {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID("uid-" + name), Labels: map[string]string{
			extension.LabelPodQoS: "BE", extension.LabelPodEvictEnabled: "true",
		}},
		Spec: corev1.PodSpec{Priority: &priority, Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{extension.BatchCPU: *resource.NewQuantity(requested, resource.DecimalSI)},
		}}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, QOSClass: corev1.PodQOSBestEffort},
	}
	n.pods = append(n.pods, state.PodOf(pod))
	n.usedBy[pod.UID], n.cpuBy[pod.UID] = 1, used
}

// readings takes some, a second apart.
func (n *node) readings(count int) {
	for range count {
		n.decide()
		time.Sleep(time.Second)
	}
}

// starving is best effort that gets a fifth of what it requests, and uses all of that.
func starving(n *node) {
	n.cpu, n.limit = 9000, 2000
	n.strategy = &slov1alpha1.ResourceThresholdStrategy{
		Enable: new(true), CPUEvictBESatisfactionLowerPercent: new(int64(40)), CPUEvictBESatisfactionUpperPercent: new(int64(60)),
		CPUEvictTimeWindowSeconds: new(int64(60)),
	}
	n.addCPU("late", 5900, 3000, 1000)
	n.addCPU("idle", 5500, 3000, 100)
	n.addCPU("busy", 5500, 2000, 500)
	n.addCPU("first", 5000, 2000, 400)
}

// TestBestEffortPodsThatGetTooLittleGoUntilTheRestIsSatisfied: 60 % of the 10 cores that they request, less the two that they get, is
// four cores of requests to be given up.
func TestBestEffortPodsThatGetTooLittleGoUntilTheRestIsSatisfied(t *testing.T) {
	onNode(t, func(t *testing.T, n *node) {
		starving(n)
		n.readings(19)
		n.want(t) // they cover less than a third of the minute that is averaged over
		n.readings(1)
		n.want(t, "first of uid-first", "busy of uid-busy")
		n.readings(15)
		n.want(t, "first of uid-first", "busy of uid-busy") // which are leaving
	}, eviction.BECPUEvict)
}

func TestBestEffortPodsStay(t *testing.T) {
	tests := map[string]func(n *node){
		"while they get what they may have":                func(n *node) { n.limit = 4100; n.readings(120) },
		"while they do not use what they get":              func(n *node) { n.cpuBy["uid-late"] = 0; n.readings(120) },
		"while nothing holds them, but the machine":        func(n *node) { n.limit = -1; n.readings(120) },
		"in a moment of little, when they had much before": func(n *node) { n.limit = 8000; n.readings(50); n.limit = 2000; n.readings(5) },
		"in a moment of much, when they had little before": func(n *node) { n.readings(19); n.limit = 9000; n.readings(30) },
		"when what they got was not measured":              func(n *node) { n.cpu = 0; n.readings(120) },
		"when little was measured long ago": func(n *node) {
			n.readings(19)
			n.cpu = 0
			n.readings(61)
			n.cpu = 9000
			n.readings(19)
		},
	}
	for name, passes := range tests {
		t.Run(name, func(t *testing.T) {
			onNode(t, func(t *testing.T, n *node) {
				starving(n)
				passes(n)
				n.want(t)
			}, eviction.BECPUEvict)
		})
	}
}

// TestBestEffortPodsThatNothingHoldsMayHaveTheMachine of ten cores, which is little to who requests thirty.
func TestBestEffortPodsThatNothingHoldsMayHaveTheMachine(t *testing.T) {
	onNode(t, func(t *testing.T, n *node) {
		starving(n)
		n.addCPU("huge", 4000, 20000, 8000)
		n.limit = -1
		n.readings(20)
		n.want(t, "huge of uid-huge")
		if in, decided := n.Input(); !decided || in.BestEffort.Current != (eviction.BestEffortCPU{Limit: 10000, Request: 30000, Used: 10000}) {
			t.Errorf("best effort %+v", in.BestEffort)
		}
	}, eviction.BECPUEvict)
}

// TestANodeThatIsBusyForAWhileLosesPods, and not one that is for a moment: the average of ten seconds counts.
func TestANodeThatIsBusyForAWhileLosesPods(t *testing.T) {
	onNode(t, func(t *testing.T, n *node) {
		n.strategy = &slov1alpha1.ResourceThresholdStrategy{
			Enable: new(true), CPUEvictThresholdPercent: new(int64(70)), CPUEvictLowerPercent: new(int64(62)),
			EvictEnabledPriorityThreshold: new(int32(5999)), CPUEvictTimeWindowSeconds: new(int64(10)),
		}
		n.addCPU("above", 7000, 1000, 4000) // not for this feature to take
		n.addCPU("late", 5900, 1000, 2000)
		n.addCPU("small", 5000, 1000, 500)
		n.addCPU("large", 5000, 1000, 1000)
		n.cpu = 5000
		n.readings(30)
		n.cpu = 9900
		n.readings(4)
		n.want(t) // 69 % on average
		if in, _ := n.Input(); in.Node.Used.MilliCPU != 6960 {
			t.Errorf("the node uses %d milli-cores on average, want 6960", in.Node.Used.MilliCPU)
		}
		n.cpu = 0
		n.readings(1)
		n.want(t) // not measured
		n.cpu = 9900
		n.readings(1)
		n.want(t, "large of uid-large", "small of uid-small") // 77 %, of which 15 have to go: the core and a half that both use
	}, eviction.CPUEvict)
}

func TestPodsThatRequestMoreThanIsOfferedGo(t *testing.T) {
	onNode(t, func(t *testing.T, n *node) {
		n.strategy = &slov1alpha1.ResourceThresholdStrategy{
			Enable: new(true), CPUAllocatableEvictThresholdPercent: new(int64(100)), CPUAllocatableEvictLowerPercent: new(int64(75)),
			AllocatableEvictPriorityThreshold: new(int32(5999)),
		}
		n.object = &corev1.Node{Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{extension.BatchCPU: resource.MustParse("6000")}}}
		n.addCPU("little", 5500, 1000, 900)
		n.addCPU("much", 5500, 2000, 1)
		n.addCPU("late", 5900, 3000, 1000)
		n.cpu = 1000
		n.readings(5)
		n.want(t) // all of the offer, and no more
		n.object.Status.Allocatable[extension.BatchCPU] = resource.MustParse("4000")
		n.cpu = 0
		n.readings(5)
		n.want(t) // not measured
		n.cpu = 1000
		n.readings(1)
		n.want(t, "much of uid-much", "little of uid-little")
	}, eviction.CPUAllocatableEvict)
}
