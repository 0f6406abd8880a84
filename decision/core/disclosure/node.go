package disclosure

import (
	"fmt"
	"slices"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/core/phrase"
)

// NodeExplanation reduces an answer to what its caller may see: sums are of all pods, and only those are named that the caller may
// get. The caller must be allowed to get the node.
func NodeExplanation(status *diagnosticsv1alpha1.NodeExplanationStatus, may Access) {
	if may(all("Pod")) {
		return
	}
	v := newViewer(may)
	v.knows("Node", "", status.Node.Name)
	for i := range status.Waterfalls {
		status.Waterfalls[i].Terms = v.terms(status.Waterfalls[i].Terms)
	}
	for i := range status.Outlook {
		if lowest := status.Outlook[i].Lowest; lowest != nil {
			lowest.Terms = v.terms(lowest.Terms)
		}
	}
	v.findings(status.Findings)
	if status.Agent != nil {
		v.agent(status.Agent)
	}
	for i := range status.Unknown {
		status.Unknown[i].Message = ""
	}
	status.Origin.Instance = ""
	status.Withheld = v.counts()
}

// terms keeps the terms, and their parts, of objects that may be named. The parts of a sum that may not are counted.
func (v *viewer) terms(list []diagnosticsv1alpha1.Term) []diagnosticsv1alpha1.Term {
	list = slices.DeleteFunc(list, func(term diagnosticsv1alpha1.Term) bool {
		return term.Object != nil && !v.gets(*term.Object) || term.Source != nil && !v.gets(*term.Source)
	})
	for i := range list {
		term := &list[i]
		before := len(term.Parts)
		term.Parts = v.terms(term.Parts)
		term.PartsOmitted += int32(before - len(term.Parts))
	}
	return list
}

// describing are the codes of findings about a node and the configuration, which name no pods.
var describing = []finding.Code{
	finding.AgentUnavailable, finding.ColocationDisabled, finding.ConfigMalformed, finding.ConfigMissing, finding.ConfigOutOfRange,
	finding.ConfigOverlap, finding.MetricAbsent, finding.MetricExpired, finding.MetricInvalid, finding.MetricStale, finding.OfferBeyondNode,
}

// findings keep their codes. Those about objects that may not be named, or that may name others, say what the code means.
func (v *viewer) findings(list []diagnosticsv1alpha1.Finding) {
	for i := range list {
		f := &list[i]
		if f.Object != nil && v.gets(*f.Object) && slices.Contains(describing, finding.Code(f.Code)) {
			continue
		}
		f.Message, f.Hint = neutral(f.Code, ""), ""
		if f.Object != nil && !v.gets(*f.Object) {
			f.Object = nil
		}
	}
}

// agent leaves out pods, and the texts of the agent that may name them.
func (v *viewer) agent(a *diagnosticsv1alpha1.AgentExplanation) {
	for i := range a.Features {
		feature := &a.Features[i]
		if count := len(feature.Problems); count > 0 {
			feature.Problems = []string{fmt.Sprintf("%s, which may name pods that you may not get", phrase.Counted(count, "problem"))}
		}
		if feature.LastError != "" {
			feature.LastError = "an error that may name pods that you may not get"
		}
		feature.State = ""
	}
	if a.Suppression != nil && a.Suppression.Budget != nil {
		a.Suppression.Budget.Terms = v.terms(a.Suppression.Budget.Terms)
		withoutNotes(a.Suppression.Budget.Terms)
	}
	if a.CPUs != nil {
		a.CPUs.Owners = slices.DeleteFunc(a.CPUs.Owners, func(owner diagnosticsv1alpha1.CPUOwner) bool {
			return owner.Namespace != "" && !v.pod(owner.Namespace, owner.Name)
		})
	}
	a.Pods = slices.DeleteFunc(a.Pods, func(pod diagnosticsv1alpha1.PodSettings) bool { return !v.pod(pod.Namespace, pod.Name) })
	if a.Evictions != nil {
		for i := range a.Evictions.Triggers {
			v.trigger(&a.Evictions.Triggers[i])
		}
	}
	for i := range a.Agents {
		v.containerAgent(&a.Agents[i])
	}
	a.Audit = nil // entries name pods and their cgroups
	for i := range a.Unknown {
		a.Unknown[i].Message = ""
	}
}

func (v *viewer) trigger(t *diagnosticsv1alpha1.EvictionTrigger) {
	before := len(t.Candidates)
	t.Candidates = slices.DeleteFunc(t.Candidates, func(c diagnosticsv1alpha1.EvictionCandidate) bool {
		if c.Agent != "" {
			return !v.pods
		}
		return !v.pod(c.Namespace, c.Name)
	})
	t.CandidatesOmitted += int32(before - len(t.Candidates))
}

// containerAgent counts the containers of another scheduler for a caller who may not get all pods: no right is about a container, and what
// runs on a node is no less protected because Kubernetes did not schedule it.
func (v *viewer) containerAgent(a *diagnosticsv1alpha1.ContainerAgent) {
	if v.pods {
		return
	}
	a.Omitted += int32(len(a.Containers))
	a.Containers = nil
	if count := len(a.Problems); count > 0 {
		a.Problems = []string{fmt.Sprintf("%s, which may name containers that you may not see", phrase.Counted(count, "problem"))}
	}
}
