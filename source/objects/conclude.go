package objects

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/core/freshness"
	"koordinator.sh/koord/decision/core/unknown"
	"koordinator.sh/koord/decision/scheduling/refusals"
)

// conclude words the verdict. Where the checks find no reason, what the scheduler itself wrote on the pod decides.
func conclude(in *PodSnapshot, s *diagnosticsv1alpha1.PodExplanationStatus, groups []*refusals.Group) {
	said, when := schedulerSaid(in)
	open := s.NodesFeasible + s.NodesUnknown
	switch {
	case in.Unknown.Has(unknown.Nodes) && said != "":
		s.Verdict, s.Code = diagnosticsv1alpha1.PodUnschedulable, string(finding.OtherPlugin)
		s.Summary = fmt.Sprintf("%s the scheduler said: %s", freshness.Ago(in.Now, when), said)
		return
	case in.Unknown.Has(unknown.Nodes):
		s.Verdict = diagnosticsv1alpha1.PodUnknown
		s.Summary = "which nodes are available is unknown: " + in.Unknown.Because(unknown.Nodes)
		return
	case len(in.Nodes) == 0:
		s.Verdict, s.Summary = diagnosticsv1alpha1.PodUnschedulable, refusals.Summarise(0, 0, nil)
	case open == 0:
		s.Verdict, s.Code = diagnosticsv1alpha1.PodUnschedulable, string(refusals.Headline(groups).Code())
		s.Summary = refusals.Summarise(0, int(s.NodesTotal), groups)
	case said != "":
		s.Verdict, s.Code = diagnosticsv1alpha1.PodUnschedulable, string(finding.OtherPlugin)
		s.Summary = fmt.Sprintf("%d/%d nodes pass the checks made without the scheduler, but %s the scheduler said: %s",
			open, s.NodesTotal, freshness.Ago(in.Now, when), said)
	case s.NodesUnknown > 0:
		s.Verdict = diagnosticsv1alpha1.PodUnknown
		s.Summary = fmt.Sprintf("%d/%d nodes pass the checks that could be made; whether they are available is unknown: %s",
			s.NodesUnknown, s.NodesTotal, in.unjudged())
	default:
		s.Verdict = diagnosticsv1alpha1.PodSchedulable
		s.Summary = fmt.Sprintf("%d/%d nodes pass the checks made without the scheduler; %s", s.NodesFeasible, s.NodesTotal, in.schedulerSilent())
	}
	if said != "" && open == 0 {
		s.Findings = append(s.Findings, diagnosticsv1alpha1.Finding{
			Code: s.Code, Severity: diagnosticsv1alpha1.SeverityInfo,
			Message: fmt.Sprintf("%s the scheduler said: %s", freshness.Ago(in.Now, when), said),
			Object:  &diagnosticsv1alpha1.SourceRef{Kind: "Pod", Namespace: in.Pod.Namespace, Name: in.Pod.Name, Field: "status.conditions"},
		})
	}
}

// schedulerSilent is what to say of a scheduler that wrote nothing on the pod.
func (s *PodSnapshot) schedulerSilent() string {
	if why := s.Unknown.Because(unknown.Events); why != "" {
		return "what the scheduler said is unknown: " + why
	}
	return "the scheduler has not reported anything about the pod"
}

// schedulerSaid is the scheduler's latest refusal: the PodScheduled condition, or a later FailedScheduling event.
func schedulerSaid(in *PodSnapshot) (string, time.Time) {
	text, when := "", time.Time{}
	for _, condition := range in.Pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse && condition.Message != "" {
			text, when = condition.Message, condition.LastTransitionTime.Time
		}
	}
	for i := range in.Events {
		event := &in.Events[i]
		if at := eventTime(event); event.Reason == "FailedScheduling" && at.After(when) {
			text, when = event.Message, at
		}
	}
	return strings.TrimSpace(text), when
}

func eventTime(event *corev1.Event) time.Time {
	switch {
	case event.Series != nil && !event.Series.LastObservedTime.IsZero():
		return event.Series.LastObservedTime.Time
	case !event.LastTimestamp.IsZero():
		return event.LastTimestamp.Time
	default:
		return event.EventTime.Time
	}
}

// unevaluated names the checks that apply to the pod and that objects cannot answer.
func unevaluated(in *PodSnapshot) []string {
	spec := &in.Pod.Spec
	var missing []string
	add := func(applies bool, what string) {
		if applies {
			missing = append(missing, "not evaluated without the scheduler: "+what)
		}
	}
	add(spec.Affinity != nil && (spec.Affinity.PodAffinity != nil || spec.Affinity.PodAntiAffinity != nil), "affinity to other pods (InterPodAffinity)")
	add(len(spec.TopologySpreadConstraints) > 0, "topology spread (PodTopologySpread)")
	add(claims(spec), "volumes (VolumeBinding, VolumeZone, NodeVolumeLimits)")
	add(len(spec.ResourceClaims) > 0, "resource claims (DynamicResources)")
	add(!in.evaluatesLoad(), "load (LoadAwareScheduling)")
	add(true, "its own state (pods it has just assumed, nominated pods), further plugins, and the smallest change that would help")
	return missing
}

func claims(spec *corev1.PodSpec) bool {
	for i := range spec.Volumes {
		if spec.Volumes[i].PersistentVolumeClaim != nil || spec.Volumes[i].Ephemeral != nil {
			return true
		}
	}
	return false
}
