package schedulinghint

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/core/phrase"
)

// listed bounds the nodes of an explanation.
const listed = 100

// Explain says which hint a pod has at a time, who wrote it, and what its writer noted of each node; nil for a pod without a hint.
func Explain(pod *corev1.Pod, now time.Time) *diagnosticsv1alpha1.PodHint {
	hint, err := extension.GetSchedulingHint(pod.Annotations)
	if err != nil {
		return &diagnosticsv1alpha1.PodHint{Summary: fmt.Sprintf("the scheduling hint cannot be read: %v", err), Code: string(finding.SchedulingHintInvalid)}
	}
	if hint == nil {
		return nil
	}
	out := &diagnosticsv1alpha1.PodHint{Only: hint.NodeNames[:min(len(hint.NodeNames), listed)]}
	for _, name := range hint.PreferredNodeNames[:min(len(hint.PreferredNodeNames), listed)] {
		out.Preferred = append(out.Preferred, diagnosticsv1alpha1.HintedNode{Node: name})
	}
	query, err := extension.GetQueryHint(hint)
	if err != nil || query == nil || query.Writer != extension.QueryHintWriter {
		out.Summary = "a scheduling hint that koord-manager did not write " + does(hint)
		return out
	}
	note(out, hint, query)
	if pod.Spec.NodeName == "" && len(hint.PreferredNodeNames) > 0 && Expired(query.Time.Time, now) {
		out.Summary = fmt.Sprintf("%s; it is older than %s and does not count anymore", out.Summary, Lasting)
	}
	return out
}

// note adds what koord-manager wrote down with its hint.
func note(out *diagnosticsv1alpha1.PodHint, hint *extension.SchedulingHint, query *extension.QueryHint) {
	out.Writer, out.WrittenAt, out.Code = query.Writer, &query.Time, query.Code
	noted := make(map[string]*extension.QueryHintNode, len(query.Nodes))
	for i := range query.Nodes {
		noted[query.Nodes[i].Name] = &query.Nodes[i]
	}
	for i := range out.Preferred {
		if node := noted[out.Preferred[i].Node]; node != nil {
			out.Preferred[i].Message = known(node)
		}
	}
	for _, left := range query.LeftOut {
		out.LeftOut = append(out.LeftOut, diagnosticsv1alpha1.HintLeftOut{Reason: left.Reason, Count: left.Count, Nodes: left.Nodes})
	}
	out.Summary = fmt.Sprintf("koord-manager's scheduling hint for this %s of engine %s %s", query.Role, query.Engine, does(hint))
	if query.Reason != "" {
		out.Summary += ": " + query.Reason
	}
}

// does is what a hint does, in words that follow on it.
func does(hint *extension.SchedulingHint) string {
	only, preferred := phrase.Counted(len(hint.NodeNames), "node"), phrase.Counted(len(hint.PreferredNodeNames), "node")
	switch {
	case len(hint.NodeNames) > 0 && len(hint.PreferredNodeNames) > 0:
		return fmt.Sprintf("restricts the pod to %s and prefers %s", only, preferred)
	case len(hint.NodeNames) > 0:
		return "restricts the pod to " + only
	case len(hint.PreferredNodeNames) > 0:
		return "prefers " + preferred
	}
	return "prefers no node"
}

// known is what was known of a node when it was preferred.
func known(node *extension.QueryHintNode) string {
	workers, caches := phrase.Counted(int(node.Workers), "worker"), phrase.Counted(int(node.Caches), "cache")
	if node.PredictedPercent != nil {
		return fmt.Sprintf("%s, %s, %d%% of memory used, up to %d%% predicted", workers, caches, node.MemoryPercent, *node.PredictedPercent)
	}
	return fmt.Sprintf("%s, %s, %d%% of memory used", workers, caches, node.MemoryPercent)
}

// Findings are about hints of koord-manager that prefer no node because somebody has to act. An invalid hint is a reason for which
// the pod is refused, and not repeated here.
func Findings(pod *corev1.Pod, hint *diagnosticsv1alpha1.PodHint) []diagnosticsv1alpha1.Finding {
	if hint == nil || pod.Spec.NodeName != "" {
		return nil
	}
	code := finding.Code(hint.Code)
	if code != finding.QueryHintUnmeasured && code != finding.QueryHintHot {
		return nil
	}
	return []diagnosticsv1alpha1.Finding{{
		Code: string(code), Severity: diagnosticsv1alpha1.Severity(code.Severity()), Message: hint.Summary,
		Object: &diagnosticsv1alpha1.SourceRef{
			Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, Field: "metadata.annotations[" + extension.AnnotationSchedulingHint + "]",
		},
	}}
}
