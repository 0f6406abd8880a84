package workloadview

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/phrase"
	"koordinator.sh/koord/decision/scheduling/jobview"
)

// Explain says whether a workload has the pods that it wants, and what keeps those that it lacks. Pods without a node come first, because they are
// what the reader can do most about.
func Explain(in Input) *diagnosticsv1alpha1.WorkloadExplanation {
	w := &in.Workload
	out := &diagnosticsv1alpha1.WorkloadExplanation{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: w.Name, CreationTimestamp: w.CreationTimestamp},
		Workload:   diagnosticsv1alpha1.SourceRef{Kind: w.Kind, Namespace: w.Namespace, Name: w.Name},
		Replicas:   w.Replicas, Ready: w.Ready, Overview: in.Overview,
	}
	waiting := jobview.CountWaiting(in.Pods)
	switch pods := phrase.Counted(int(w.Replicas), "pod"); {
	case in.PodsUnknown:
		out.State, out.Summary = diagnosticsv1alpha1.WorkloadUnknown, fmt.Sprintf("%d of %s ready; the pods could not be read", w.Ready, pods)
	case waiting > 0:
		wait(in, waiting, out)
	case w.Failure != "":
		out.State, out.Summary = diagnosticsv1alpha1.WorkloadRefused, fmt.Sprintf("%d of %s exist: %s", w.Current, pods, w.Failure)
	case w.Current > w.Replicas && w.Updated >= w.Replicas:
		out.State, out.Summary = diagnosticsv1alpha1.WorkloadScalingDown, fmt.Sprintf("%s wanted, %d exist", pods, w.Current)
	case w.Unseen:
		out.State, out.Summary = diagnosticsv1alpha1.WorkloadRollingOut, "its controller has not seen the latest change yet"
	case w.Updated < min(w.Replicas, w.Current):
		out.State, out.Summary = diagnosticsv1alpha1.WorkloadRollingOut, fmt.Sprintf("%d of %s of the latest template", w.Updated, pods)
	case w.Replicas == 0:
		out.State, out.Summary = diagnosticsv1alpha1.WorkloadStopped, "no pods are wanted"
	case w.Current < w.Replicas:
		out.State, out.Summary = diagnosticsv1alpha1.WorkloadStarting, fmt.Sprintf("%d of %s exist", w.Current, pods)
	case w.Ready < w.Replicas:
		out.State, out.Summary = diagnosticsv1alpha1.WorkloadUnready, fmt.Sprintf("%d of %s ready, all have nodes", w.Ready, pods)
	default:
		out.State, out.Summary = diagnosticsv1alpha1.WorkloadRunning, fmt.Sprintf("%d of %s ready", w.Ready, pods)
	}
	return out
}

// wait answers of a workload of which pods have no node, by the explanation of one of them.
func wait(in Input, waiting int, out *diagnosticsv1alpha1.WorkloadExplanation) {
	out.State, out.Summary = diagnosticsv1alpha1.WorkloadWaiting, phrase.Counted(waiting, "pod")+" without a node"
	if in.Waiting == nil {
		return
	}
	status := &in.Waiting.Status
	out.WaitingPod, out.Code, out.HeldBy = in.Waiting.Name, status.Code, jobview.HolderOf(status)
	out.Summary += ": " + status.Summary
	out.Findings = status.Findings
	out.Incomplete = append(out.Incomplete, status.Incomplete...)
}
