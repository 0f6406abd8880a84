package rebalance

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/loopguard"
	"koordinator.sh/koord/decision/descheduling/rebalance"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// leaving is a pod with a condition DisruptionTarget.
func leaving(name, reason string, ago time.Duration) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: name, UID: types.UID(name),
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "load", UID: "load-uid", Controller: new(true)}},
		},
		Spec: corev1.PodSpec{NodeName: "worker-1"},
		Status: corev1.PodStatus{Conditions: []corev1.PodCondition{
			{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: reason, LastTransitionTime: metav1.NewTime(noon.Add(-ago))},
		}},
	}
}

func TestEvictionsOfOtherComponentsAreRemembered(t *testing.T) {
	bare := leaving("bare", evictedByAPI, time.Minute)
	bare.OwnerReferences = nil
	moved := schedulingv1alpha1.PodMigrationJob{Spec: schedulingv1alpha1.PodMigrationJobSpec{PodRef: &corev1.ObjectReference{UID: "moved"}}}
	log := &EvictionLog{Client: fake.NewClientBuilder().Build(), Now: func() time.Time { return noon }}
	handler := log.Handler()
	handler.OnUpdate(nil, leaving("evicted", evictedByAPI, time.Hour))
	handler.OnDelete(leaving("evicted", evictedByAPI, time.Hour)) // once more
	handler.OnDelete(cache.DeletedFinalStateUnknown{Obj: leaving("late", evictedByAPI, time.Minute)})
	handler.OnUpdate(nil, leaving("moved", evictedByAPI, time.Minute))
	handler.OnUpdate(nil, leaving("preempted", "PreemptionByScheduler", time.Minute))
	handler.OnUpdate(nil, leaving("old", evictedByAPI, 1000*time.Hour))
	handler.OnUpdate(nil, bare)
	var want []loopguard.Move
	for pod, ago := range map[string]time.Duration{"evicted": time.Hour, "late": time.Minute} {
		want = append(want, loopguard.Move{Workload: "Job/load/load-uid", Pod: "shop/" + pod, From: "worker-1", At: noon.Add(-ago), By: loopguard.ByOther})
	}
	if want[0].Pod != "shop/evicted" {
		want[0], want[1] = want[1], want[0]
	}
	for _, jobs := range [][]schedulingv1alpha1.PodMigrationJob{{moved}, nil} { // the job is deleted in the meantime
		got, err := log.Moves(t.Context(), jobs)
		if err != nil {
			t.Fatal(err)
		}
		got = removeOld(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("moves (-want +got):\n%s", diff)
		}
	}
}

// removeOld leaves out what the window of history does: the log forgets what is old only behind all that is older.
func removeOld(moves []loopguard.Move) []loopguard.Move {
	var recent []loopguard.Move
	for _, move := range moves {
		if noon.Sub(move.At) < evictionsKept {
			recent = append(recent, move)
		}
	}
	return recent
}

func TestTheEvictionLogIsBounded(t *testing.T) {
	log := &EvictionLog{Client: fake.NewClientBuilder().Build(), Now: func() time.Time { return noon }}
	for range 2 {
		for i := range maxEvictions + 10 {
			log.Observe(leaving(strconv.Itoa(i), evictedByAPI, time.Minute))
		}
	}
	if len(log.order) != maxEvictions || len(log.seen) != maxEvictions {
		t.Errorf("%d evictions and %d UIDs are kept, want %d", len(log.order), len(log.seen), maxEvictions)
	}
}

func TestAnAgentThatHoldsNothingBackIsNotWaitedForForever(t *testing.T) {
	args := rebalance.DefaultArgs()
	p := &Plugin{args: args, observed: rebalance.NewObservations(2, args.Horizon.Duration)}
	resources := []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}
	agents := &others{agents: strategyOf("worker-1")}
	held := rebalance.Plan{Steps: []rebalance.Step{{Remedy: rebalance.HoldBack, Node: 0}}}
	offers := func(at time.Time) bool {
		p.observed.Observe("shop/load", []float64{30, 1}, at)
		v := &view{in: rebalance.Input{Args: args, Now: at, Resources: resources, Nodes: []rebalance.Node{{Name: "worker-1", Capacity: []float64{100, 100}, Usage: []float64{85, 10}}}}}
		reclaimable := p.reclaimable(v, &v.in.Nodes[0], []string{"shop/load"}, agents.agents["worker-1"])
		if reclaimable != nil {
			p.wait(v, held)
		} else {
			p.wait(v, rebalance.Plan{})
		}
		return reclaimable != nil
	}
	for after, want := range []bool{true, true, false, false} {
		if got := offers(noon.Add(time.Duration(after) * time.Hour)); got != want {
			t.Errorf("after %d hours, the agent is relied upon: %t, want %t", after, got, want)
		}
	}
	calm := &view{in: rebalance.Input{Args: args, Now: noon, Resources: resources, Nodes: []rebalance.Node{{Name: "worker-1", Capacity: []float64{100, 100}, Usage: []float64{60, 10}}}}}
	p.wait(calm, rebalance.Plan{})
	if !offers(noon.Add(5 * time.Hour)) {
		t.Error("the agent is not relied upon after the node was not overutilized")
	}
}

func strategyOf(node string) map[string]*slov1alpha1.ResourceThresholdStrategy {
	return map[string]*slov1alpha1.ResourceThresholdStrategy{node: {Enable: new(true)}}
}
