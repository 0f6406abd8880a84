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
	// guaranteed is at least given where usage is guaranteed, else 0.
	guaranteed float64
	lends      bool
}

// runtimes divides the totals from the tops of the trees to their leaves, in fractions, one resource after the other. The
// root has what is left of the default tree's for the quotas below it.
func (t *Tree) runtimes(all map[string]*sums) map[string]Limits {
	runtimes := map[string]Limits{}
	for id, total := range t.totals() {
		if id == "" {
			for _, outside := range []string{extension.DefaultQuotaName, extension.SystemQuotaName} {
				for name, value := range all[outside].used {
					total[name] = math.Max(0, total[name]-value)
				}
			}
			runtimes[extension.RootQuotaName] = total
		}
		for name := range t.resources() {
			t.divide(t.tops(id), name, total[name], all, runtimes)
		}
	}
	return runtimes
}

// resources are those that some quota limits or guarantees, and cpu and memory.
func (t *Tree) resources() map[corev1.ResourceName]bool {
	resources := map[corev1.ResourceName]bool{corev1.ResourceCPU: true, corev1.ResourceMemory: true}
	for _, quota := range t.Quotas {
		for name := range quota.Spec.Max {
			resources[name] = true
		}
		for name := range quota.Spec.Min {
			resources[name] = true
		}
	}
	return resources
}

func (t *Tree) divide(siblings []*schedulingsigsv1alpha1.ElasticQuota, name corev1.ResourceName, total float64, all map[string]*sums, runtimes map[string]Limits) {
	var shares []*share
	mins, guarantees := 0.0, t.guaranteesUsage()
	for _, quota := range siblings {
		s := &share{
			name: quota.Name, min: limitsOf(quota.Spec.Min)[name], want: all[quota.Name].limited[name], lends: extension.IsQuotaLendingAllowed(quota),
		}
		if _, limited := quota.Spec.Max[name]; limited {
			s.weight = limitsOf(extension.QuotaSharedWeight(quota.Annotations, quota.Spec.Max))[name]
		}
		if guarantees {
			s.guaranteed = all[quota.Name].guaranteed[name]
		}
		mins += s.min
		shares = append(shares, s)
	}
	fill(shares, total, mins)
	for i, s := range shares {
		if runtimes[s.name] == nil {
			runtimes[s.name] = Limits{}
		}
		runtimes[s.name][name] = s.gives
		t.divide(t.children(siblings[i]), name, s.gives, all, runtimes)
	}
}

// guaranteesUsage tells whether quotas are guaranteed what they use: then a scheduler writes what they are guaranteed.
func (t *Tree) guaranteesUsage() bool {
	for _, quota := range t.Quotas {
		if _, says := quota.Annotations[extension.AnnotationQuotaGuaranteed]; says {
			return true
		}
	}
	return false
}

// fill gives everyone min, scaled where mins add up to more than there is, or what it wants if that is less and it lends, and
// pours the rest by weight into those that want more, until they have enough or nothing is left.
func fill(shares []*share, total, mins float64) {
	left := total
	for _, s := range shares {
		floor := s.min
		if mins > total {
			floor = total * s.min / mins
		}
		floor = math.Max(floor, s.guaranteed)
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
