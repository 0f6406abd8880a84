package invariants

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
)

// share is one quota while its parent's runtime is divided, for one resource.
type share struct {
	name                     string
	min, want, weight, gives float64
	// guaranteed is at least given where usage is guaranteed, else 0: no more than what is used, or min, and both of them for a parent.
	guaranteed, used float64
	parent           bool
	lends            bool
}

// runtimes divides the totals from the tops of the trees to their leaves, in fractions, one resource after the other. The
// root has what is left of the default tree's for the quotas below it.
func (t *Tree) runtimes(all map[string]*sums) map[string]Limits {
	runtimes, whole := map[string]Limits{}, t.totals()
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
			t.divide(t.tops(id), name, total[name], math.Max(whole[id][name], leastWeight(name)), all, runtimes)
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

// leastWeight is the weight that counts in the smallest tree, as weights may be meant as percentages.
func leastWeight(name corev1.ResourceName) float64 {
	return limitsOf(corev1.ResourceList{name: resource.MustParse("100")})[name]
}

// divide shares what a parent has. No weight counts for more than most.
func (t *Tree) divide(siblings []*schedulingsigsv1alpha1.ElasticQuota, name corev1.ResourceName, total, most float64, all map[string]*sums, runtimes map[string]Limits) {
	var shares []*share
	guarantees := t.guaranteesUsage()
	for _, quota := range siblings {
		s := &share{
			name: quota.Name, min: limitsOf(quota.Spec.Min)[name], want: all[quota.Name].limited[name], lends: extension.IsQuotaLendingAllowed(quota),
		}
		if _, limited := quota.Spec.Max[name]; limited {
			s.weight = math.Min(most, limitsOf(extension.QuotaSharedWeight(quota.Annotations, quota.Spec.Max))[name])
		}
		if guarantees {
			s.guaranteed, s.used, s.parent = all[quota.Name].guaranteed[name], all[quota.Name].used[name], len(t.children(quota)) > 0
		}
		shares = append(shares, s)
	}
	fill(shares, total)
	for i, s := range shares {
		if runtimes[s.name] == nil {
			runtimes[s.name] = Limits{}
		}
		runtimes[s.name][name] = s.gives
		t.divide(t.children(siblings[i]), name, s.gives, most, all, runtimes)
	}
}

// guaranteesUsage reports whether quotas are guaranteed what they use: then a scheduler writes what they are guaranteed.
func (t *Tree) guaranteesUsage() bool {
	for _, quota := range t.Quotas {
		if _, says := quota.Annotations[extension.AnnotationQuotaGuaranteed]; says {
			return true
		}
	}
	return false
}

// floors is what everyone is guaranteed: min, unless those that are asked for do not fit. Then none counts for more than the level at which they do;
// one beyond the total for as much less as it is beyond, and for an equal part at least.
func floors(shares []*share, total float64) []float64 {
	credible := func(s *share) float64 {
		claim := math.Min(s.min, s.want)
		if claim <= total {
			return claim
		}
		return math.Max(math.Floor(total*total/claim), math.Floor(total/float64(len(shares))))
	}
	sum, claims := 0.0, make([]float64, len(shares))
	for i, s := range shares {
		claims[i] = credible(s)
		sum += claims[i]
	}
	level := math.Inf(1)
	if sum > total {
		slices.Sort(claims)
		left := total
		for i, claim := range claims {
			if level = left / float64(len(claims)-i); claim > level {
				break
			}
			left -= claim
		}
	}
	out := make([]float64, len(shares))
	for i, s := range shares {
		out[i] = math.Min(math.Min(s.min, total), level)
		if math.Min(s.min, s.want) > total {
			out[i] = math.Min(credible(s), level)
		}
	}
	return out
}

// fill gives everyone its floor, or what it wants if that is less and it lends, and pours the rest by weight into those that want
// more, until they have enough or nothing is left.
func fill(shares []*share, total float64) {
	left, floors := total, floors(shares, total)
	for i, s := range shares {
		floor, most := floors[i], math.Max(s.used, floors[i])
		if s.parent {
			most = s.used + floors[i]
		}
		floor = math.Max(floor, math.Min(s.guaranteed, most))
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
