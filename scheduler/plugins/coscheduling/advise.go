package coscheduling

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/core/kubectl"
	"koordinator.sh/koord/decision/scheduling/gang"
	"koordinator.sh/koord/decision/scheduling/networktopology"
	"koordinator.sh/koord/scheduler/reason"
)

// Costs of changes of a PodGroup, on the scale of reason.Change: an edit of a shared object, and more the more is given up.
const (
	costOfMinMember = 10.0
	costOfLayer     = 11.0
	costOfStrategy  = 12.0
	costOfRules     = 13.0
)

var _ reason.Adviser = &Plugin{}

// Advise implements reason.Adviser: the gang runs with as many members as found a node or as have room together, if fewer are
// enough, or its members are further apart in the network. It is about gangs that a PodGroup describes.
func (p *Plugin) Advise(ctx context.Context, _ fwk.CycleState, pod *corev1.Pod, info fwk.NodeInfo, reasons []string) []reason.Change {
	key, belongs := gang.KeyOf(pod)
	object := p.state.Object(key)
	if !belongs || object == nil {
		return nil
	}
	var changes []reason.Change
	if fits, found := p.state.Report(key).Fitting(); found {
		changes = append(changes, withMinMember(object, fits, "there is room for")...)
	}
	if spec := p.gathers(key); spec != nil {
		switch {
		case p.hasCode(reasons, finding.GangTopologyUnsatisfied):
			changes = append(changes, p.apart(ctx, pod, object, spec)...)
		case p.hasCode(reasons, finding.GangTopologyInvalid):
			changes = append(changes, withoutRules(object))
		}
	}
	for i := range changes {
		changes[i].Fix.Target, changes[i].Fix.Node = diagnosticsv1alpha1.FixCluster, info.Node().Name
	}
	return changes
}

func (p *Plugin) hasCode(reasons []string, code finding.Code) bool {
	return slices.ContainsFunc(reasons, func(text string) bool { return p.CodeOf(text) == code })
}

// withMinMember lowers the number of members that must run together; none when that is no less than it is.
func withMinMember(object *schedulingsigsv1alpha1.PodGroup, members int, which string) []reason.Change {
	if members < 1 || members >= int(object.Spec.MinMember) {
		return nil
	}
	edited := object.DeepCopy()
	edited.Spec.MinMember = int32(members)
	return []reason.Change{{Cost: costOfMinMember, Object: edited, Fix: diagnosticsv1alpha1.Fix{
		Kind: "lowerMinMember",
		Description: fmt.Sprintf("lower minMember of PodGroup %s/%s from %d to %d, which is how many members %s",
			object.Namespace, object.Name, object.Spec.MinMember, members, which),
		Steps: []diagnosticsv1alpha1.FixStep{kubectl.Merge(kubectl.PodGroup(object.Namespace, object.Name),
			map[string]any{"spec": map[string]any{"minMember": members}})},
	}}}
}

// apart proposes, for a gang that no part of the network has room for, fewer members, a larger part, or that the part is a wish.
func (p *Plugin) apart(ctx context.Context, pod *corev1.Pod, object *schedulingsigsv1alpha1.PodGroup, spec *gang.Spec) []reason.Change {
	var changes []reason.Change
	if plan, err := p.plan(ctx, pod, spec); err == nil && !plan.Found() {
		_, running := p.unplaced(spec.Key)
		changes = withMinMember(object, len(running)+plan.Best, "have room together")
	}
	layers, err := networktopology.LayersOf(p.state.Topology())
	if err != nil {
		return changes
	}
	for depth := len(layers) - 1; depth > 0; depth-- {
		at := slices.IndexFunc(spec.Topology.GatherStrategy, func(rule extension.NetworkTopologyGatherRule) bool {
			return rule.Layer == layers[depth].Name && rule.Strategy == extension.NetworkTopologyGatherStrategyMustGather
		})
		if at < 0 {
			continue
		}
		for above := depth - 1; above > 0; above-- {
			changes = append(changes, withRules(object, spec.Topology, "gatherFurtherUp", costOfLayer+float64(depth-above)/10,
				fmt.Sprintf("let the members of PodGroup %s/%s gather in layer %s instead of %s", object.Namespace, object.Name, layers[above].Name, layers[depth].Name),
				func(rules []extension.NetworkTopologyGatherRule) []extension.NetworkTopologyGatherRule {
					rules[at].Layer = layers[above].Name
					return slices.DeleteFunc(rules, func(rule extension.NetworkTopologyGatherRule) bool {
						return rule.Layer == layers[above].Name && rule != rules[at]
					})
				})...)
		}
		changes = append(changes, withRules(object, spec.Topology, "preferGather", costOfStrategy,
			fmt.Sprintf("let the members of PodGroup %s/%s prefer one domain of layer %s instead of requiring it", object.Namespace, object.Name, layers[depth].Name),
			func(rules []extension.NetworkTopologyGatherRule) []extension.NetworkTopologyGatherRule {
				rules[at].Strategy = extension.NetworkTopologyGatherStrategyPreferGather
				return rules
			})...)
	}
	return append(changes, withoutRules(object))
}

// withRules edits the rules of a PodGroup; none when they cannot be written.
func withRules(object *schedulingsigsv1alpha1.PodGroup, spec *extension.NetworkTopologySpec, kind string, cost float64, description string,
	edit func([]extension.NetworkTopologyGatherRule) []extension.NetworkTopologyGatherRule) []reason.Change {
	edited := object.DeepCopy()
	if err := extension.SetNetworkTopologySpec(edited, &extension.NetworkTopologySpec{GatherStrategy: edit(slices.Clone(spec.GatherStrategy))}); err != nil {
		return nil
	}
	return []reason.Change{{Cost: cost, Object: edited, Fix: diagnosticsv1alpha1.Fix{
		Kind: kind, Description: description,
		Steps: rulesOf(object, kubectl.Value(edited.Annotations[extension.AnnotationGangNetworkTopologySpec])),
	}}}
}

// withoutRules lets the members be anywhere.
func withoutRules(object *schedulingsigsv1alpha1.PodGroup) reason.Change {
	edited := object.DeepCopy()
	delete(edited.Annotations, extension.AnnotationGangNetworkTopologySpec)
	return reason.Change{Cost: costOfRules, Object: edited, Fix: diagnosticsv1alpha1.Fix{
		Kind:        "removeGatherRules",
		Description: fmt.Sprintf("remove the network topology requirements of PodGroup %s/%s", object.Namespace, object.Name),
		Steps:       rulesOf(object, kubectl.Remove),
	}}
}

// rulesOf sets or removes the rules of a PodGroup.
func rulesOf(object *schedulingsigsv1alpha1.PodGroup, value *string) []diagnosticsv1alpha1.FixStep {
	return []diagnosticsv1alpha1.FixStep{kubectl.Annotate(kubectl.PodGroup(object.Namespace, object.Name),
		map[string]*string{extension.AnnotationGangNetworkTopologySpec: value})}
}
