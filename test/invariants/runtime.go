package invariants

import (
	"math"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
)

// share is one quota while its parent's runtime is divided, for one resource.
type share struct {
	name                     string
	min, want, weight, gives float64
	lends                    bool
}

// runtimes divides the total from the top of the tree to its leaves, in fractions, one resource after the other.
func (t *Tree) runtimes() map[string]Limits {
	runtimes := map[string]Limits{}
	resources := map[corev1.ResourceName]bool{}
	for _, quota := range t.Quotas {
		for name := range quota.Spec.Max {
			resources[name] = true
		}
	}
	total := limitsOf(t.Total)
	own := t.ownRequests()
	for _, outside := range []string{extension.DefaultQuotaName, extension.SystemQuotaName} {
		for name, value := range t.Used(outside) {
			total[name] = math.Max(0, total[name]-value)
		}
	}
	for name := range resources {
		t.divide(extension.RootQuotaName, name, total[name], own, runtimes)
	}
	return runtimes
}

// ownRequests is what the pods of each quota request, pending ones included.
func (t *Tree) ownRequests() map[string]Limits {
	own := map[string]Limits{}
	for _, pod := range t.Pods {
		quota := t.Of(pod)
		if own[quota] == nil {
			own[quota] = Limits{}
		}
		own[quota].add(requestsOf(pod))
	}
	return own
}

func (t *Tree) children(parent string) []*schedulingsigsv1alpha1.ElasticQuota {
	var children []*schedulingsigsv1alpha1.ElasticQuota
	for _, quota := range t.Quotas {
		if extension.IsBuiltInQuota(quota.Name) {
			continue
		}
		above := extension.QuotaParent(quota)
		if t.quota(above) == nil {
			above = extension.RootQuotaName
		}
		if above == parent {
			children = append(children, quota)
		}
	}
	return children
}

// limited is what a quota asks of its parent: what it and those below it request, at least min where it does not lend, at
// most max.
func (t *Tree) limited(quota *schedulingsigsv1alpha1.ElasticQuota, name corev1.ResourceName, own map[string]Limits) float64 {
	request := own[quota.Name][name]
	for _, child := range t.children(quota.Name) {
		request += t.limited(child, name, own)
	}
	if !extension.IsQuotaLendingAllowed(quota) {
		request = math.Max(request, limitsOf(quota.Spec.Min)[name])
	}
	if _, bounded := quota.Spec.Max[name]; bounded {
		request = math.Min(request, limitsOf(quota.Spec.Max)[name])
	}
	return request
}

func (t *Tree) divide(parent string, name corev1.ResourceName, total float64, own map[string]Limits, runtimes map[string]Limits) {
	var shares []*share
	guaranteed := 0.0
	for _, quota := range t.children(parent) {
		minimum := limitsOf(quota.Spec.Min)[name]
		guaranteed += minimum
		shares = append(shares, &share{
			name: quota.Name, min: minimum, want: t.limited(quota, name, own), lends: extension.IsQuotaLendingAllowed(quota),
			weight: limitsOf(extension.QuotaSharedWeight(quota.Annotations, quota.Spec.Max))[name],
		})
	}
	fill(shares, total, guaranteed)
	for _, s := range shares {
		if runtimes[s.name] == nil {
			runtimes[s.name] = Limits{}
		}
		runtimes[s.name][name] = s.gives
		t.divide(s.name, name, s.gives, own, runtimes)
	}
}

// fill gives everyone min, or what it wants if that is less and it lends, and pours the rest by weight into those that
// want more, until they have enough or nothing is left.
func fill(shares []*share, total, guaranteed float64) {
	left := total
	for _, s := range shares {
		floor := s.min
		if guaranteed > total {
			floor = total * s.min / guaranteed
		}
		s.gives = floor
		if s.lends {
			s.gives = math.Min(floor, s.want)
		}
		left -= s.gives
	}
	for left > 0 {
		var thirsty []*share
		weights := 0.0
		for _, s := range shares {
			if s.gives < s.want && s.weight > 0 {
				thirsty = append(thirsty, s)
				weights += s.weight
			}
		}
		if len(thirsty) == 0 {
			return
		}
		// The level rises until the first of them has enough.
		level := left / weights
		for _, s := range thirsty {
			level = math.Min(level, (s.want-s.gives)/s.weight)
		}
		for _, s := range thirsty {
			s.gives += level * s.weight
			if (s.want-s.gives)/s.weight <= 1e-12*math.Max(1, s.want/s.weight) {
				s.gives = s.want
			}
		}
		left -= level * weights
		if level*weights <= 1e-9*total {
			return
		}
	}
}
