package quota

import (
	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/podrequest"
)

// Holding is what one pod asks for and uses.
type Holding struct {
	Request Amounts
	// Assigned is true once the pod has a node: it then uses what it asks for.
	Assigned bool
	// NonPreemptible pods count against min as well.
	NonPreemptible bool
}

// Hold counts a pod in a quota. It reports whether the tree has a quota of that name.
func (t *Tree) Hold(quota string, holding Holding) bool { return t.count(quota, holding, 1) }

// Release takes back Hold of the same holding.
func (t *Tree) Release(quota string, holding Holding) bool { return t.count(quota, holding, -1) }

func (t *Tree) count(quota string, holding Holding, sign int64) bool {
	row, found := t.row[quota]
	if !found {
		return false
	}
	for i := range holding.Request {
		if column, known := t.column[holding.Request[i].Resource]; known {
			t.countOne(row, column, sign*holding.Request[i].Value, holding)
		}
	}
	return true
}

func (t *Tree) countOne(row int32, column int, delta int64, holding Holding) {
	if delta == 0 {
		return
	}
	t.requested(row, column, delta)
	if holding.Assigned {
		t.used(row, column, delta)
		t.allocated(row, column, delta)
	}
	if !holding.NonPreemptible {
		return
	}
	for ; row != none; row = t.nodes[row].parent {
		sums := &t.sums[t.at(row, column)]
		sums.nonPreemptibleRequest.add(delta)
		if holding.Assigned {
			sums.nonPreemptibleUsed.add(delta)
		}
	}
}

// requested adds to the request of a quota and passes on what changes above its max, and below its min, of it.
func (t *Tree) requested(row int32, column int, delta int64) {
	for row != none {
		at := t.at(row, column)
		t.sums[at].childRequest.add(delta)
		before := t.shares[at].limited
		t.shares[at].limited = t.limitedRequest(row, at)
		if delta = t.shares[at].limited - before; delta == 0 {
			return
		}
		if row = t.nodes[row].parent; row != none {
			t.nodes[row].stale = true
		}
	}
}

func (t *Tree) limitedRequest(row int32, at int) int64 {
	return min(t.request(row, at), limitOr(t.sums[at].max))
}

func (t *Tree) request(row int32, at int) int64 {
	request := t.sums[at].childRequest.value()
	if !t.nodes[row].spec.Lends {
		request = max(request, t.shares[at].min)
	}
	return request
}

func (t *Tree) used(row int32, column int, delta int64) {
	if t.nodes[row].outside {
		t.nodes[0].stale = true
	}
	for ; row != none; row = t.nodes[row].parent {
		t.sums[t.at(row, column)].used.add(delta)
		// What is used counts where less than min is guaranteed.
		t.nodes[row].stale = t.nodes[row].stale || t.options.GuaranteeUsage
	}
}

// allocated keeps up what is guaranteed when usage is.
func (t *Tree) allocated(row int32, column int, delta int64) {
	for t.options.GuaranteeUsage && row != none {
		at := t.at(row, column)
		t.sums[at].allocated.add(delta)
		before := t.shares[at].guaranteed
		t.shares[at].guaranteed = max(t.sums[at].allocated.value(), t.shares[at].min)
		if delta = t.shares[at].guaranteed - before; delta == 0 {
			return
		}
		if row = t.nodes[row].parent; row != none {
			t.nodes[row].stale = true
		}
	}
}

// HoldingOf is what a pod asks for and uses, as its spec and status say.
func HoldingOf(pod *corev1.Pod) Holding {
	requests := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{UseStatusResources: true, InPlacePodLevelResourcesVerticalScalingEnabled: true})
	return Holding{Request: AmountsOf(requests), Assigned: pod.Spec.NodeName != "", NonPreemptible: extension.IsPodNonPreemptible(pod.Labels)}
}

// HoldPods counts pods in the quotas that they belong to, as the scheduler does. Pods that have ended do not count.
func (f *Forest) HoldPods(belonging Belonging, pods []corev1.Pod) {
	for i := range pods {
		if !podrequest.Consumes(&pods[i]) {
			continue
		}
		if name := f.QuotaOf(belonging, &pods[i]); f.Tree(name) != nil {
			f.Tree(name).Hold(name, HoldingOf(&pods[i]))
		}
	}
}

// QuotaOf is the quota that a pod counts against.
func (f *Forest) QuotaOf(belonging Belonging, pod *corev1.Pod) string {
	return belonging.Of(pod, func(name string) bool { return f.Tree(name) != nil })
}
