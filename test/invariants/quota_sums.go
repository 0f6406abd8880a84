package invariants

import (
	"math"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
)

// sums is what the pods of a quota, and of those below it, request and use.
type sums struct {
	// childRequest is what its pods, pending ones included, and the quotas below it ask for; request is that, or min where it
	// does not lend; limited is what it asks of its parent: no more than max.
	childRequest, request, limited Limits
	// used is what bound pods request; fixed is both of pods that cannot be preempted.
	used, fixedRequest, fixedUsed Limits
	// allocated is what its bound pods request and the quotas below it are guaranteed; guaranteed is that, or min where that
	// is more.
	allocated, guaranteed Limits
}

// sums adds up everything from the pods, from the leaves of the trees to their tops. The root has the sums of the default
// tree, without the quotas that take no part in sharing.
func (t *Tree) sums() map[string]*sums {
	all := map[string]*sums{}
	for _, name := range []string{extension.RootQuotaName, extension.DefaultQuotaName, extension.SystemQuotaName} {
		all[name] = newSums()
	}
	for _, quota := range t.Quotas {
		all[quota.Name] = newSums()
	}
	for _, pod := range t.Pods {
		all[t.Of(pod)].count(pod)
	}
	for _, name := range []string{extension.DefaultQuotaName, extension.SystemQuotaName} {
		all[name].finish(t.quota(name))
	}
	for id := range t.totals() {
		for _, top := range t.tops(id) {
			t.addUp(top, all)
			if id == "" {
				all[extension.RootQuotaName].above(all[top.Name])
			}
		}
	}
	all[extension.RootQuotaName].finish(nil)
	return all
}

func newSums() *sums {
	return &sums{childRequest: Limits{}, used: Limits{}, fixedRequest: Limits{}, fixedUsed: Limits{}, allocated: Limits{}}
}

func (s *sums) count(pod *corev1.Pod) {
	requests, bound, fixed := requestsOf(pod), pod.Spec.NodeName != "", pod.Labels[extension.LabelQuotaPreemptible] == "false"
	s.childRequest.add(requests)
	if bound {
		s.used.add(requests)
		s.allocated.add(requests)
	}
	if fixed {
		s.fixedRequest.add(requests)
	}
	if fixed && bound {
		s.fixedUsed.add(requests)
	}
}

// addUp makes the sums of a quota and of all below it.
func (t *Tree) addUp(quota *schedulingsigsv1alpha1.ElasticQuota, all map[string]*sums) {
	for _, child := range t.children(quota) {
		t.addUp(child, all)
		all[quota.Name].above(all[child.Name])
	}
	all[quota.Name].finish(quota)
}

// above takes over the sums of a child.
func (s *sums) above(child *sums) {
	s.childRequest.plus(child.limited)
	s.used.plus(child.used)
	s.fixedRequest.plus(child.fixedRequest)
	s.fixedUsed.plus(child.fixedUsed)
	s.allocated.plus(child.guaranteed)
}

// finish fills in what follows from the sums and the spec; nil stands for a quota without one.
func (s *sums) finish(quota *schedulingsigsv1alpha1.ElasticQuota) {
	s.request, s.guaranteed = Limits{}, Limits{}
	s.request.plus(s.childRequest)
	s.guaranteed.plus(s.allocated)
	s.limited = Limits{}
	if quota == nil {
		s.limited.plus(s.request)
		return
	}
	for name, minimum := range limitsOf(quota.Spec.Min) {
		s.guaranteed[name] = math.Max(s.guaranteed[name], minimum)
		if !extension.IsQuotaLendingAllowed(quota) {
			s.request[name] = math.Max(s.request[name], minimum)
		}
	}
	s.limited.plus(s.request)
	for name, limit := range limitsOf(quota.Spec.Max) {
		s.limited[name] = math.Min(s.limited[name], limit)
	}
}

func (l Limits) plus(other Limits) {
	for name, value := range other {
		l[name] += value
	}
}
