package configplan

import (
	"cmp"
	"runtime"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"koordinator.sh/koord/api/configuration"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/unknown"
	"koordinator.sh/koord/decision/noderesource/overcommit"
)

// builder makes one plan.
type builder struct {
	in      *Input
	podsOf  map[string][]*corev1.Pod
	metrics map[string]*slov1alpha1.NodeMetric
	slos    map[string]*slov1alpha1.NodeSLO
	diffs   *diffs
	facts   []nodeFacts
	plan    *Plan
}

// nodeFacts is what was found out about one node, in the order of Input.Nodes.
type nodeFacts struct {
	change NodeChange
	// settings that change on the node; shared between nodes.
	settings *groupDiff
	pods     []PodEffect
	// old and new offer of each of overcommit.Resources.
	old, new []overcommit.Value
	// shown is the allocatable amount of what amplification changes; of anything else it stays.
	shown       map[corev1.ResourceName]shownAmount
	overOffer   bool
	unconverged bool
	// unknown says of each of overcommit.Resources that its offer changes by what cannot be computed.
	unknown [4]bool
	// unknownPods says that what happens to the pods is not known.
	unknownPods bool
	// predicted says that a predictor, whose history is not known, has a part in the offers.
	predicted bool
}

func newBuilder(in *Input) *builder {
	b := &builder{in: in, plan: &Plan{}, diffs: newDiffs(in.Old, in.New), podsOf: make(map[string][]*corev1.Pod, len(in.Nodes)),
		metrics: make(map[string]*slov1alpha1.NodeMetric, len(in.Metrics)), slos: make(map[string]*slov1alpha1.NodeSLO, len(in.SLOs)),
		facts: make([]nodeFacts, len(in.Nodes))}
	for i := range in.Pods {
		if name := in.Pods[i].Spec.NodeName; name != "" {
			b.podsOf[name] = append(b.podsOf[name], &in.Pods[i])
		}
	}
	for i := range in.Metrics {
		b.metrics[in.Metrics[i].Name] = &in.Metrics[i]
	}
	for i := range in.SLOs {
		b.slos[in.SLOs[i].Name] = &in.SLOs[i]
	}
	return b
}

// nodes looks at every node, on all CPUs, and arranges what was found in groups.
func (b *builder) nodes() {
	workers := min(runtime.GOMAXPROCS(0), max(len(b.in.Nodes), 1))
	var group sync.WaitGroup
	for worker := range workers {
		group.Go(func() {
			for i := worker; i < len(b.in.Nodes); i += workers {
				b.facts[i] = b.node(&b.in.Nodes[i])
			}
		})
	}
	group.Wait()
	b.collect()
}

// node looks at one node.
func (b *builder) node(node *corev1.Node) nodeFacts {
	in := overcommit.NodeInput{Node: node, Metric: b.metrics[node.Name], Pods: b.podsOf[node.Name], Now: b.in.Now, Unknown: b.in.Unknown}
	facts := nodeFacts{change: NodeChange{Name: node.Name, Group: -1}, settings: b.diffs.of(node)}
	before, after := in, in
	unread := facts.settings.ratios && b.in.Unknown.Has(unknown.Topologies)
	if facts.settings.ratios && !unread {
		before.Node, after.Node = b.ratioChanges(node, &facts)
	}
	before.Strategy, after.Strategy = b.in.Old.Colocation(node), b.in.New.Colocation(node)
	old := overcommit.Calculate(before, nil)
	result := old
	if facts.settings.colocation || facts.settings.ratios {
		result = overcommit.Calculate(after, nil)
	}
	changes := facts.settings.colocation || facts.settings.ratios
	survey := requestsOf(in.Pods)
	for i, name := range overcommit.Resources() {
		was, _ := old.Of(name)
		is, _ := result.Of(name)
		facts.old, facts.new = append(facts.old, was), append(facts.new, is)
		if was.Unknown != "" || is.Unknown != "" || unread {
			facts.unknown[i] = changes
			continue
		}
		if offered(was) == offered(is) && was.Withdrawn == is.Withdrawn {
			continue
		}
		change := offerChange(published(after, node), name, was, is)
		if !b.in.Unknown.Has(unknown.Pods) {
			change.Requested = new(survey[name])
			facts.overOffer = facts.overOffer || survey[name] > offered(is)
		}
		facts.change.Offers = append(facts.change.Offers, change)
	}
	pressed := facts.settings.threshold || len(facts.change.Offers) > 0 || facts.unknown != [4]bool{}
	facts.unknownPods = pressed && (unread || b.in.Unknown.Has(unknown.Pods, unknown.NodeMetrics))
	if pressed && !facts.unknownPods {
		facts.pods = podEffects(pressureInput{
			node: in, features: b.in.Features, oldOffers: old, newOffers: result,
			old: b.in.Old.NodeSLOSpec(node).ResourceUsedThresholdWithBE, new: b.in.New.NodeSLOSpec(node).ResourceUsedThresholdWithBE,
		})
	}
	for _, pod := range facts.pods {
		if pod.Effect == Suppressed {
			facts.change.Suppressed++
		} else {
			facts.change.Evicted++
		}
	}
	facts.predicted = (facts.settings.colocation || facts.settings.ratios) && (predicts(&before.Strategy.Strategy) || predicts(&after.Strategy.Strategy))
	facts.unconverged = b.in.SLOs != nil && !b.converged(node)
	return facts
}

// published is an input with the node as the API server has it.
func published(in overcommit.NodeInput, node *corev1.Node) overcommit.NodeInput {
	in.Node = node
	return in
}

// predicts says whether koord-manager predicts for a strategy.
func predicts(strategy *configuration.ColocationStrategy) bool {
	chosen, err := strategy.Predictor()
	return err == nil && (chosen.Batch != "" || chosen.Mid != "")
}

// converged compares a node's NodeSLO with what the configuration in force renders. The extensions belong to others.
func (b *builder) converged(node *corev1.Node) bool {
	actual, ok := b.slos[node.Name]
	if !ok {
		return false
	}
	want := b.in.Old.NodeSLOSpec(node)
	want.Extensions = actual.Spec.Extensions
	return equality.Semantic.DeepEqual(want, actual.Spec)
}

// offered is the amount that pods can request: nothing where the resource is withdrawn.
func offered(value overcommit.Value) int64 {
	if value.Withdrawn {
		return 0
	}
	return value.Value
}

func offerChange(in overcommit.NodeInput, name corev1.ResourceName, old, is overcommit.Value) OfferChange {
	change := OfferChange{Resource: name, Unit: UnitOf(name), Published: overcommit.Published(in.Node, name)}
	if !old.Withdrawn {
		change.Old = &old.Value
	}
	if is.Withdrawn {
		change.Reason = is.Reason
		return change
	}
	change.New = &is.Value
	lastSync := overcommit.LastSync(in.Node)
	state, reason := overcommit.NeedsSync(change.Published, is, lastSync, in.Strategy.Strategy, in.Now)
	if state == withinThreshold {
		change.Reason = reason
	}
	return change
}

// collect arranges what was found: nodes with the same changes of settings in groups, the largest first.
func (b *builder) collect() {
	members := map[*groupDiff][]string{}
	for i := range b.facts {
		facts := &b.facts[i]
		if !facts.settings.empty() {
			members[facts.settings] = append(members[facts.settings], facts.change.Name)
		}
	}
	order := make([]*groupDiff, 0, len(members))
	for diff, names := range members {
		slices.Sort(names)
		order = append(order, diff)
	}
	slices.SortFunc(order, func(x, y *groupDiff) int {
		return cmp.Or(cmp.Compare(len(members[y]), len(members[x])), strings.Compare(members[x][0], members[y][0]))
	})
	index := map[*groupDiff]int{}
	for i, diff := range order {
		index[diff] = i
		b.plan.Groups = append(b.plan.Groups, diff.group(members[diff]))
	}
	for i := range b.facts {
		facts := &b.facts[i]
		if at, ok := index[facts.settings]; ok {
			facts.change.Group = at
		}
		if facts.change.Group >= 0 || len(facts.change.Offers) > 0 || len(facts.pods) > 0 {
			b.plan.Nodes = append(b.plan.Nodes, facts.change)
		}
		b.plan.Pods = append(b.plan.Pods, facts.pods...)
	}
	slices.SortFunc(b.plan.Nodes, func(x, y NodeChange) int { return strings.Compare(x.Name, y.Name) })
	slices.SortStableFunc(b.plan.Pods, func(x, y PodEffect) int { return strings.Compare(x.Node, y.Node) })
}
