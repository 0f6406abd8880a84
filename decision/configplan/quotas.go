package configplan

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/overcommit"
	"koordinator.sh/koord/decision/podrequest"
	"koordinator.sh/koord/decision/quota"
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
// shares change only where a total does.
func (b *builder) quotas() {
	if len(b.in.Quotas) == 0 {
		return
	}
	before, after, same := b.totals()
	if same {
		return
	}
	args := &quota.Args{}
	quota.SetDefaults(args)
	specs := make([]*quota.Spec, 0, len(b.in.Quotas))
	for i := range b.in.Quotas {
		spec, _ := quota.Decode(&b.in.Quotas[i])
		specs = append(specs, &spec)
	}
	forest := quota.Plant(args.Options(), specs)
	b.hold(forest, specs)
	old := runtimes(forest, specs, before)
	next := runtimes(forest, specs, after)
	for i, spec := range specs {
		if shares := shareChanges(old[i], next[i]); len(shares) > 0 {
			b.plan.Quotas = append(b.plan.Quotas, QuotaChange{Namespace: spec.Namespace, Name: spec.Name, Shares: shares})
		}
	}
	slices.SortFunc(b.plan.Quotas, func(x, y QuotaChange) int { return compareNames(x.Namespace, x.Name, y.Namespace, y.Name) })
}

// totals is what all nodes have with the old and with the new offers.
func (b *builder) totals() (before, after quota.Amounts, same bool) {
	sum := corev1.ResourceList{}
	var old, is [4]int64
	for n := range b.facts {
		for name, quantity := range b.in.Nodes[n].Status.Allocatable {
			if slices.Contains(overcommit.Resources(), name) {
				continue
			}
			total := sum[name]
			total.Add(quantity)
			sum[name] = total
		}
		for i := range overcommit.Resources() {
			old[i], is[i] = old[i]+offered(b.facts[n].old[i]), is[i]+offered(b.facts[n].new[i])
		}
	}
	list := func(offers [4]int64) quota.Amounts {
		for i, name := range overcommit.Resources() {
			sum[name] = *resource.NewQuantity(offers[i], resource.DecimalSI)
		}
		return quota.AmountsOf(sum)
	}
	return list(old), list(is), old == is
}

// hold counts every pod in its quota, as the scheduler does: by its label, the quota with the name of its namespace, the one
// that lists the namespace, or the default quota.
func (b *builder) hold(forest *quota.Forest, specs []*quota.Spec) {
	namespaces := map[string]string{}
	for _, spec := range specs {
		for _, namespace := range spec.Namespaces {
			if first, claimed := namespaces[namespace]; !claimed || spec.Name < first {
				namespaces[namespace] = spec.Name
			}
		}
	}
	for _, spec := range specs {
		if spec.Name == spec.Namespace {
			namespaces[spec.Namespace] = spec.Name
		}
	}
	for i := range b.in.Pods {
		pod := &b.in.Pods[i]
		if !podrequest.Consumes(pod) {
			continue
		}
		name := pod.Labels[extension.LabelQuotaName]
		if name == "" {
			name = namespaces[pod.Namespace]
		}
		tree := forest.Tree(name)
		if tree == nil {
			name = extension.DefaultQuotaName
			tree = forest.Tree(name)
		}
		if tree == nil {
			continue
		}
		requests := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{UseStatusResources: true, InPlacePodLevelResourcesVerticalScalingEnabled: true})
		tree.Hold(name, quota.Holding{Request: quota.AmountsOf(requests), Assigned: pod.Spec.NodeName != "", NonPreemptible: extension.IsPodNonPreemptible(pod.Labels)})
	}
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
