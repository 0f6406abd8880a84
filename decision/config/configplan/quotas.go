package configplan

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"koordinator.sh/koord/decision/core/unknown"
	"koordinator.sh/koord/decision/noderesource/overcommit"
	"koordinator.sh/koord/decision/scheduling/quota"
)

// QuotaChange is the runtime of one quota before and after.
type QuotaChange struct {
	// Namespace and Name of the ElasticQuota.
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Shares that change.
	Shares []ShareChange `json:"shares"`
}

// ShareChange is the runtime of one resource before and after, with what is used of it.
type ShareChange struct {
	// Resource such as kubernetes.io/batch-cpu.
	Resource corev1.ResourceName `json:"resource"`
	// Old and New runtime, and what pods Use, in thousandths of a CPU or bytes.
	Old  int64 `json:"old"`
	New  int64 `json:"new"`
	Used int64 `json:"used"`
	// Overused is true when more is used than the new runtime, so that pods may be revoked.
	Overused bool `json:"overused,omitempty"`
}

// quotas computes the shares with the cluster's total before and after. Quotas exist only where anybody made them, and
// shares change only where a total does. Where they may change and cannot be computed, nothing is said of them.
func (b *builder) quotas() {
	known := !b.in.Unknown.Has(unknown.Quotas)
	before, after, same := b.totals()
	changing := !same || slices.ContainsFunc(b.facts, func(f nodeFacts) bool { return f.unknown != [4]bool{} })
	if known && len(b.in.Quotas) == 0 || !changing {
		b.plan.Summary.Quotas = new(int)
		return
	}
	if !known || b.in.Unknown.Has(unknown.Pods, unknown.NodeMetrics, unknown.Topologies, unknown.SchedulerConfiguration) {
		return
	}
	defer func() { b.plan.Summary.Quotas = new(len(b.plan.Quotas)) }()
	args := b.in.QuotaArgs
	if args == nil {
		args = &quota.Args{}
		quota.SetDefaults(args)
	}
	specs := make([]*quota.Spec, 0, len(b.in.Quotas))
	for i := range b.in.Quotas {
		spec, _ := quota.Decode(&b.in.Quotas[i])
		specs = append(specs, &spec)
	}
	forest := quota.BuildForest(args.Options(), specs)
	forest.HoldPods(quota.BelongingTo(specs), b.in.Pods)
	old := runtimes(forest, specs, before)
	next := runtimes(forest, specs, after)
	for i, spec := range specs {
		if shares := shareChanges(old[i], next[i]); len(shares) > 0 {
			b.plan.Quotas = append(b.plan.Quotas, QuotaChange{Namespace: spec.Namespace, Name: spec.Name, Shares: shares})
		}
	}
	slices.SortFunc(b.plan.Quotas, func(x, y QuotaChange) int { return compareNames(x.Namespace, x.Name, y.Namespace, y.Name) })
}

// totals is what all nodes have with the old and with the new configuration: what they are shown with, and their offers.
func (b *builder) totals() (before, after quota.Amounts, same bool) {
	old, is := corev1.ResourceList{}, corev1.ResourceList{}
	for n := range b.facts {
		facts := &b.facts[n]
		for name, quantity := range b.in.Nodes[n].Status.Allocatable {
			if slices.Contains(overcommit.Resources(), name) {
				continue
			}
			was, shows := quantity, quantity
			if amplified, ok := facts.shown[name]; ok {
				was, shows = amplified.old, amplified.new
			}
			add(old, name, was)
			add(is, name, shows)
		}
		for i, name := range overcommit.Resources() {
			add(old, name, *resource.NewQuantity(offered(facts.old[i]), resource.DecimalSI))
			add(is, name, *resource.NewQuantity(offered(facts.new[i]), resource.DecimalSI))
		}
	}
	before, after = quota.AmountsOf(old), quota.AmountsOf(is)
	return before, after, slices.Equal(before, after)
}

func add(sum corev1.ResourceList, name corev1.ResourceName, quantity resource.Quantity) {
	total := sum[name]
	total.Add(quantity)
	sum[name] = total
}

// runtimes of the quotas, in the order of the specs, when the cluster has a total.
func runtimes(forest *quota.Forest, specs []*quota.Spec, total quota.Amounts) []quota.Status {
	forest.SetTotal(total)
	out := make([]quota.Status, len(specs))
	for i, spec := range specs {
		if tree := forest.Tree(spec.Name); tree != nil {
			out[i], _ = tree.Status(spec.Name)
		}
	}
	return out
}

func shareChanges(old, is quota.Status) []ShareChange {
	var out []ShareChange
	for _, amount := range is.Runtime {
		before, _ := old.Runtime.Get(amount.Resource)
		if before == amount.Value {
			continue
		}
		used, _ := is.Used.Get(amount.Resource)
		out = append(out, ShareChange{Resource: amount.Resource, Old: before, New: amount.Value, Used: used, Overused: used > amount.Value})
	}
	return out
}
