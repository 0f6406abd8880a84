package simulation

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	reservation "koordinator.sh/koord/decision/scheduling/reservation"
)

// knowledge is what a scheduler knows, by what it is about.
type knowledge map[string]any

// compare holds what the leader knows against the API server, and against what a scheduler knows that has just been started.
// The world must be calm.
func (w *world) compare() {
	w.compareQuotas()
	live := w.knowledge(w.live)
	w.differ("the leader knows what is not so", w.listed(), w.seenBy(w.live))
	w.note("scheduler %s is stopped", w.live.client)
	w.live.stop()
	w.takeOver()
	if w.live == nil {
		return
	}
	w.flush()
	w.differ("a new scheduler knows what is not so", w.listed(), w.seenBy(w.live))
	w.differ("a new scheduler knows something else than the one before it", w.knowledge(w.live), live)
}

// compareQuotas holds what the leader wrote of quotas against the pods. What users wrote over is put right now and then.
func (w *world) compareQuotas() {
	for began := time.Now(); w.exhaust(); w.pass(20 * time.Second) {
		violations := w.watcher.QuotasAgree()
		if len(violations) > 0 && time.Since(began) < 3*time.Minute {
			continue
		}
		for _, violation := range violations {
			w.problem("%s", violation)
		}
		return
	}
}

func (w *world) differ(what string, want, got knowledge) {
	everything := cmp.Options{
		cmp.Exporter(func(reflect.Type) bool { return true }),
		cmp.FilterPath(func(path cmp.Path) bool {
			return path.Last().Type() != nil && path.Last().Type().Kind() == reflect.Func
		}, cmp.Ignore()),
	}
	for _, subject := range slices.Sorted(maps.Keys(mapsUnion(want, got))) {
		if diff := cmp.Diff(want[subject], got[subject], everything); diff != "" {
			w.problem("%s: %s: %s (-want +got)\n%s", cachesAgree, what, subject, diff)
		}
	}
}

func mapsUnion(a, b knowledge) knowledge {
	both := maps.Clone(a)
	maps.Copy(both, b)
	return both
}

func orderedByUID(infos []fwk.PodInfo) []*corev1.Pod {
	pods := make([]*corev1.Pod, len(infos))
	for i, info := range infos {
		pods[i] = info.GetPod()
	}
	slices.SortFunc(pods, func(a, b *corev1.Pod) int { return strings.Compare(string(a.UID), string(b.UID)) })
	return pods
}

// knowledge of one scheduler, apart from what it is about to do.
func (w *world) knowledge(p *process) knowledge {
	known := knowledge{}
	var nodes []fwk.NodeInfo
	for name, info := range p.Scheduler.Cache.Dump().Nodes {
		if info.Node() == nil {
			continue
		}
		node := framework.NewNodeInfo(orderedByUID(info.Pods)...)
		node.SetNode(info.Node())
		nodes = append(nodes, node)
		known["requests on "+name] = requested(info)
	}
	maps.Copy(known, p.parts.Contents(nodes))
	return known
}

// requested is what the cache sums up, without resources of which nothing is left.
func requested(info *framework.NodeInfo) framework.Resource {
	sum := *info.Requested
	sum.ScalarResources = maps.Clone(sum.ScalarResources)
	if sum.ScalarResources == nil {
		sum.ScalarResources = map[corev1.ResourceName]int64{}
	}
	maps.DeleteFunc(sum.ScalarResources, func(_ corev1.ResourceName, amount int64) bool { return amount == 0 })
	return sum
}

// active reports whether a Reservation holds room: how much of it is left to show is for decision/scheduling/reservation to say.
func (w *world) active(uid types.UID) bool {
	return slices.ContainsFunc(w.store.list(reservationKind), func(o *object) bool {
		r := into[schedulingv1alpha1.Reservation](o)
		return r.UID == uid && reservation.Active(r)
	})
}

// seenBy is which pods a scheduler sees where, and which wait in its queue. Reserve pods count where no Reservation holds the
// room that they take.
func (w *world) seenBy(p *process) knowledge {
	seen := knowledge{}
	dump := p.Scheduler.Cache.Dump()
	for name, info := range dump.Nodes {
		if info.Node() == nil && len(info.Pods) == 0 {
			continue
		}
		var pods []string
		for _, pod := range orderedByUID(info.Pods) {
			if !reservation.IsReservePod(pod) || !w.active(pod.UID) {
				pods = append(pods, string(pod.UID))
			}
		}
		slices.Sort(pods)
		seen["pods on "+name] = pods
	}
	if len(dump.AssumedPods) > 0 {
		seen["assumed pods"] = slices.Sorted(maps.Keys(dump.AssumedPods))
	}
	waiting := []string{}
	pending, _ := p.Scheduler.SchedulingQueue.PendingPods()
	for _, pod := range pending {
		waiting = append(waiting, string(pod.UID))
	}
	for _, profile := range p.Scheduler.Profiles {
		profile.IterateOverWaitingPods(func(waits fwk.WaitingPod) { waiting = append(waiting, string(waits.GetPod().UID)) })
	}
	slices.Sort(waiting)
	seen["pods that wait"] = waiting
	return seen
}

// listed is which pods are where, and which wait, as the API server says.
func (w *world) listed() knowledge {
	listed, waiting := knowledge{}, []string{}
	on := map[string][]string{}
	for _, o := range w.store.list(nodeKind) {
		on[o.key] = nil
	}
	for _, o := range w.store.list(podKind) {
		pod := into[corev1.Pod](o)
		switch {
		case pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed:
		case pod.Spec.NodeName != "":
			on[pod.Spec.NodeName] = append(on[pod.Spec.NodeName], string(pod.UID))
		default:
			waiting = append(waiting, string(pod.UID))
		}
	}
	for _, o := range w.store.list(reservationKind) {
		r := into[schedulingv1alpha1.Reservation](o)
		if reservation.Pending(r) {
			waiting = append(waiting, string(r.UID))
		}
	}
	for name, pods := range on {
		slices.Sort(pods)
		listed["pods on "+name] = pods
	}
	slices.Sort(waiting)
	listed["pods that wait"] = waiting
	return listed
}

// cachesAgree names the invariant.
const cachesAgree = "I14, I15 caches agree"
