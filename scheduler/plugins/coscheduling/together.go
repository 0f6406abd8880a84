package coscheduling

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/scheduling/gang"
	"koordinator.sh/koord/scheduler/reason"
)

var _ reason.Grouper = &Plugin{}

// Together implements reason.Grouper: the members of a Strict gang that has not run, and of the other gangs of its group.
func (p *Plugin) Together(pod *corev1.Pod) []*corev1.Pod {
	key, belongs := gang.KeyOf(pod)
	if !belongs || !p.state.Together(key) {
		return nil
	}
	var members []*corev1.Pod
	for _, other := range p.state.Spec(key).Group {
		for _, member := range p.state.Members(other) {
			if (member.Phase == gang.Pending || member.Phase == gang.Releasing) && member.Pod.DeletionTimestamp == nil {
				members = append(members, member.Pod)
			}
		}
	}
	slices.SortFunc(members, func(a, b *corev1.Pod) int {
		return cmp.Or(cmp.Compare(corev1helpers.PodPriority(b), corev1helpers.PodPriority(a)),
			a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return members
}

// Complete implements reason.Grouper.
func (p *Plugin) Complete(pod *corev1.Pod) bool {
	key, _ := gang.KeyOf(pod)
	spec := p.state.Spec(key)
	return spec == nil || !slices.ContainsFunc(spec.Group, func(other gang.Key) bool {
		standing := p.state.Spec(other)
		return standing == nil || p.state.Counts(other).Placed() < int(standing.MinMember)
	})
}

// HeldBack implements reason.Grouper, with the text that the event of a rejected member has.
func (p *Plugin) HeldBack(pod, refused *corev1.Pod, placed int, why string) (string, reason.Subject) {
	key, _ := gang.KeyOf(pod)
	group := []gang.Key{key}
	if spec := p.state.Spec(key); spec != nil {
		group = spec.Group
	}
	name := refused.Namespace + "/" + refused.Name
	mentions := []diagnosticsv1alpha1.SourceRef{reason.Mention(refused)}
	for _, each := range group {
		mentions = append(mentions, diagnosticsv1alpha1.SourceRef{Kind: "PodGroup", Namespace: each.Namespace, Name: each.Name})
	}
	return gang.Rejected(group, refused, cmp.Or(why, noNode), placed), reason.Subject{
		Code: finding.GangMemberRefused, Key: key.String(), Distance: 1, Mentions: mentions,
		Phrase: fmt.Sprintf("could not be used because member %s of gang %s finds no node", name, key),
		Describe: func() (string, []diagnosticsv1alpha1.Term) {
			return fmt.Sprintf("gang %s is placed all or nothing: %s, but none for member %s", key, found(placed), name),
				termsOf(p.state.Report(key))
		},
	}
}

func found(placed int) string {
	if placed == 1 {
		return "1 member finds a node"
	}
	return fmt.Sprintf("%d members find a node", placed)
}

// Fewer implements reason.Grouper, for gangs that a PodGroup describes and that have no others in their group.
func (p *Plugin) Fewer(pod *corev1.Pod, placed int) []reason.Change {
	key, _ := gang.KeyOf(pod)
	object, spec := p.state.Object(key), p.state.Spec(key)
	if object == nil || spec == nil || len(spec.Group) > 1 {
		return nil
	}
	changes := withMinMember(object, p.state.Counts(key).Placed()+placed, "there is room for")
	for i := range changes {
		changes[i].Fix.Target = diagnosticsv1alpha1.FixCluster
	}
	return changes
}
