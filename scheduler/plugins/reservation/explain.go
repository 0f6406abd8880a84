package reservation

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/core/amount"
	"koordinator.sh/koord/decision/core/kubectl"
	decision "koordinator.sh/koord/decision/scheduling/reservation"
	"koordinator.sh/koord/scheduler/reason"
)

var (
	_ reason.Explainer  = &Plugin{}
	_ reason.Introducer = &Plugin{}
	_ reason.Coder      = &Plugin{}
	_ reason.Preemptor  = &Plugin{}
	_ reason.Adviser    = &Plugin{}
)

// costOfWish is that of an edit of the pod.
const costOfWish = 3

// fixed are the refusals that are about reserve pods, or about pods as such.
var fixed = map[string]reason.Subject{
	decision.ReasonNodeName:       {Phrase: "didn't match the node name of the reservation", Distance: 2},
	decision.ReasonInactive:       {Phrase: "had an inactive reservation", Distance: 1},
	decision.ReasonPolicyConflict: {Phrase: "had reservations with a different allocate policy", Distance: 1},
}

// ExplainRefusal implements reason.Explainer.
func (p *Plugin) ExplainRefusal(_ context.Context, state fwk.CycleState, pod *corev1.Pod, info fwk.NodeInfo, text string) (reason.Subject, bool) {
	if reason.ExcludedBy(text) == Name && decision.IsReservePod(pod) {
		text = decision.ReasonNodeName // PreFilter leaves out the other nodes for nothing else
	}
	if subject, found := fixed[text]; found {
		subject.Code = decision.CodeOf(text)
		subject.Describe = func() (string, []diagnosticsv1alpha1.Term) { return text, nil }
		return subject, true
	}
	c := cycleOf(state)
	if c == nil {
		return p.explainWish(pod, text)
	}
	switch {
	case !c.refusal.Passed() && text == c.refusal.Reason:
		return reason.Subject{
			Code: c.refusal.Code, Phrase: text, Distance: 2,
			Describe: func() (string, []diagnosticsv1alpha1.Term) { return text, nil },
		}, true
	case text == decision.ReasonAffinity, reason.ExcludedBy(text) == Name:
		return reason.Subject{
			Code: finding.ReservationAffinityUnmatched, Phrase: "had no reservation for the pod", Distance: 2,
			Describe: func() (string, []diagnosticsv1alpha1.Term) { return c.census.Summary(), nil },
		}, true
	case decision.IsUnfit(text):
		return explainUnfit(c, info.Node().Name)
	}
	return reason.Subject{}, false
}

// Introduces implements reason.Introducer: what is short stands in the reason after this one, where it is known.
func (p *Plugin) Introduces(text string) bool { return text == decision.ReasonUnfit }

// CodeOf returns the code of a reason of PreFilter, Filter or Reserve, empty for any other text.
func (p *Plugin) CodeOf(text string) finding.Code {
	if reason.ExcludedBy(text) == Name { // nodes without a reservation for a pod that must use one
		return decision.CodeOf(decision.ReasonAffinity)
	}
	return decision.CodeOf(text)
}

// explainWish is about annotations that cannot be read.
func (p *Plugin) explainWish(pod *corev1.Pod, text string) (reason.Subject, bool) {
	if _, err := decision.NewDemand(pod); err == nil || err.Error() != text {
		return reason.Subject{}, false
	}
	return reason.Subject{
		Code: finding.ReservationWishInvalid, Phrase: "the pod's reservation annotations are invalid", Distance: 1,
		Describe: func() (string, []diagnosticsv1alpha1.Term) { return text, nil },
	}, true
}

func explainUnfit(c *cycle, node string) (reason.Subject, bool) {
	offer := c.nodes[node]
	if offer == nil {
		return reason.Subject{}, false
	}
	subject := reason.Subject{Code: finding.ReservationUnfit, Phrase: "had reservations with insufficient resources", Distance: 0.5}
	refusal := offer.refusal
	if !refusal.Passed() {
		subject.Code, subject.Key = refusal.Code, string(refusal.Resource)
	}
	names := make([]string, len(offer.views))
	for i, view := range offer.views {
		names[i] = view.Name
	}
	slices.Sort(names)
	for _, name := range names {
		subject.Mentions = append(subject.Mentions, diagnosticsv1alpha1.SourceRef{Kind: "Reservation", Name: name})
	}
	subject.Describe = func() (string, []diagnosticsv1alpha1.Term) {
		return fmt.Sprintf("%s of %s: %s; %s", refusal.Reason, strings.Join(names, ", "), lack(refusal), c.census.Summary()), terms(refusal)
	}
	return subject, true
}

// lack says how much of a resource is missing.
func lack(refusal decision.Refusal) string {
	asked, free := amount.FormatPair(refusal.Resource, refusal.Requested, refusal.Free)
	return fmt.Sprintf("needs %s, %s free", asked, free)
}

// terms are the operands of a refusal.
func terms(refusal decision.Refusal) []diagnosticsv1alpha1.Term {
	if refusal.Resource == "" {
		return nil
	}
	unit := amount.UnitOf(refusal.Resource)
	return []diagnosticsv1alpha1.Term{
		{Name: "asked", Operator: diagnosticsv1alpha1.Info, Value: refusal.Requested, Unit: unit},
		{Name: "free", Operator: diagnosticsv1alpha1.Info, Value: refusal.Free, Unit: unit},
	}
}

// Advise implements reason.Adviser: the pod may ask for less of its reservation, or the users of one may go.
func (p *Plugin) Advise(_ context.Context, state fwk.CycleState, pod *corev1.Pod, info fwk.NodeInfo, _ []string) []reason.Change {
	c := cycleOf(state)
	if decision.IsReservePod(pod) {
		return nil
	}
	var changes []reason.Change
	for key, what := range map[string]string{
		extension.AnnotationReservationAffinity:   "the pod's reservation affinity",
		extension.AnnotationExactMatchReservation: "the pod's exact match of reservations",
	} {
		if _, found := pod.Annotations[key]; found {
			changes = append(changes, withoutWish(pod, info.Node().Name, what, key))
		}
	}
	slices.SortFunc(changes, func(a, b reason.Change) int { return strings.Compare(a.Fix.Description, b.Fix.Description) })
	if c == nil { // what the pod says cannot be read
		return append(changes, withoutWishes(pod, info.Node().Name)...)
	}
	return append(changes, withoutUsers(c, info)...)
}

// withoutWishes gives up all that a pod says about reservations, when more than one of it cannot be read.
func withoutWishes(pod *corev1.Pod, node string) []reason.Change {
	return []reason.Change{withoutWish(pod, node, "the pod's reservation annotations",
		extension.AnnotationReservationAffinity, extension.AnnotationExactMatchReservation)}
}

func withoutWish(pod *corev1.Pod, node, what string, keys ...string) reason.Change {
	edited, removed := pod.DeepCopy(), map[string]*string{}
	for _, key := range keys {
		delete(edited.Annotations, key)
		removed[key] = kubectl.Remove
	}
	return reason.Change{Cost: costOfWish, Pod: edited, Fix: diagnosticsv1alpha1.Fix{
		Target: diagnosticsv1alpha1.FixPod, Kind: "removeReservationAffinity", Node: node, Description: "remove " + what,
		Steps: []diagnosticsv1alpha1.FixStep{kubectl.Annotate(kubectl.Pod(pod.Namespace, pod.Name), removed)},
	}}
}

// withoutUsers proposes to evict one user of a reservation on the node.
func withoutUsers(c *cycle, info fwk.NodeInfo) []reason.Change {
	offer := c.nodes[info.Node().Name]
	if offer == nil {
		return nil
	}
	var changes []reason.Change
	for _, other := range info.GetPods() {
		pod := other.GetPod()
		for _, view := range offer.views {
			if _, uses := view.Pods[pod.UID]; uses {
				changes = append(changes, reason.Change{Cost: reason.CostEvict, Evict: []*corev1.Pod{pod}, Fix: diagnosticsv1alpha1.Fix{
					Target: diagnosticsv1alpha1.FixCluster, Kind: "evictPod", Node: info.Node().Name,
					Description: fmt.Sprintf("evict %s, which uses reservation %s", reason.Called(pod), view.Name),
					Steps:       []diagnosticsv1alpha1.FixStep{reason.Eviction(pod)},
					Mentions:    []diagnosticsv1alpha1.SourceRef{{Kind: "Reservation", Name: view.Name}},
				}})
			}
		}
	}
	return changes
}
