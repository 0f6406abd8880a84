package objects

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/rebalance"
)

// decide plans a round with moves that koord-scheduler confirms, as koord-descheduler does. Where it cannot be asked here, it may answer
// koord-descheduler all the same: the moves are forecast, and the answer says that they were not confirmed.
func (p *plannedRebalance) decide(f *forecast, v *rebalanceView, trace *rebalance.Trace) rebalance.Plan {
	if p.profile.Rebalance.SchedulerReview == rebalance.ReviewNever || f.in.Review == nil || f.unasked {
		return rebalance.Decide(v.in, trace)
	}
	plan, err := rebalance.DecideReviewed(v.in, func(proposals []rebalance.Proposal) ([]rebalance.Opinion, error) {
		return f.ask(v, proposals)
	}, trace)
	if err != nil {
		f.unasked = true
		return rebalance.Decide(v.in, trace)
	}
	return plan
}

// ask asks koord-scheduler about the moves of a round. It does not know of the rounds before, so their pods come first, each with the node
// that it has by now.
func (f *forecast) ask(v *rebalanceView, proposals []rebalance.Proposal) ([]rebalance.Opinion, error) {
	spec := rebalance.Question(&v.in, v.pods, proposals)
	before := slices.DeleteFunc(slices.Clone(f.arrived), func(one diagnosticsv1alpha1.PlacementReviewPod) bool {
		return slices.ContainsFunc(proposals, func(proposal rebalance.Proposal) bool { return isPod(&one, v.pods[proposal.Pod]) })
	})
	if spec.Pods = append(before, spec.Pods...); len(spec.Pods) > diagnosticsv1alpha1.MaxPlacementReviewPods {
		return nil, f.unconfirmed(&diagnosticsv1alpha1.Finding{Message: fmt.Sprintf("a placement review takes %d pods, and %d have moved by then or would", diagnosticsv1alpha1.MaxPlacementReviewPods, len(spec.Pods))})
	}
	answer, note := f.in.Review(&spec)
	if note != nil {
		return nil, f.unconfirmed(note)
	}
	for _, missing := range answer.Incomplete {
		f.lacks(missing)
	}
	about := *answer
	about.Placements = about.Placements[min(len(before), len(about.Placements)):]
	opinions, err := rebalance.Opinions(&v.in, len(proposals), &about)
	if err != nil {
		return nil, f.unconfirmed(&diagnosticsv1alpha1.Finding{Message: err.Error()})
	}
	return opinions, nil
}

func isPod(one *diagnosticsv1alpha1.PlacementReviewPod, pod *corev1.Pod) bool {
	return one.Namespace == pod.Namespace && one.Name == pod.Name
}

// arrive notes where a pod is from now on.
func (f *forecast) arrive(pod *corev1.Pod, node string) {
	f.arrived = slices.DeleteFunc(f.arrived, func(one diagnosticsv1alpha1.PlacementReviewPod) bool { return isPod(&one, pod) })
	f.arrived = append(f.arrived, diagnosticsv1alpha1.PlacementReviewPod{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, Targets: []string{node}})
}

// unconfirmed says that moves were not confirmed by koord-scheduler, and why.
func (f *forecast) unconfirmed(why *diagnosticsv1alpha1.Finding) error {
	text := why.Message + "; " + unreviewed
	if f.number > 0 {
		text = fmt.Sprintf("%s; from round %d on, %s", why.Message, f.number+1, unreviewed)
	}
	if why.Code != "" {
		text += " (" + why.Code + ")"
	}
	f.lacks(text)
	return fmt.Errorf("ask koord-scheduler: %s", why.Message)
}

// unreviewed is what follows where koord-scheduler was not asked.
const unreviewed = "koord-scheduler, which confirms each move before " + rebalance.PluginName + " makes it, was not asked: it may refuse some"

// lacks notes once what the answer lacks.
func (f *forecast) lacks(text string) {
	if !slices.Contains(f.answer.Incomplete, text) {
		f.answer.Incomplete = append(f.answer.Incomplete, text)
	}
}
