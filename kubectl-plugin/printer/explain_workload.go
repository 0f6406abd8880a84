package printer

import (
	"fmt"
	"io"
	"strings"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// WorkloadExplanation prints whether a workload has the pods that it wants, and what these request and use.
func WorkloadExplanation(w io.Writer, e *diagnosticsv1alpha1.WorkloadExplanation, o Options) error {
	var b strings.Builder
	role := workloadRole(e)
	line := o.Style.Mark(role) + " " + o.Style.Paint(role, string(e.State)) + ": " + o.Style.Paint(Strong, o.say(e.Summary))
	if e.Code != "" {
		line += o.Style.Paint(Dim, " ["+o.Style.Clean(e.Code)+"]")
	}
	wrapped(&b, o, 0, line)
	wrapped(&b, o, 0, o.Style.Paint(Strong, o.Style.Clean(e.Namespace+"/"+e.Name))+"; "+o.Style.Clean(e.Workload.Kind)+"; "+o.say(workloadPods(e)))
	for _, text := range workloadEvidence(e) {
		wrapped(&b, o, 2, o.say(text))
	}
	if e.WaitingPod != "" {
		wrapped(&b, o, 2, o.say("the oldest pod without a node is "+e.WaitingPod))
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	return findings(w, e.Findings, o)
}

// workloadPods counts the pods of a workload.
func workloadPods(e *diagnosticsv1alpha1.WorkloadExplanation) string {
	if e.Overview == nil {
		return fmt.Sprintf("pods: %d wanted, %d ready", e.Replicas, e.Ready)
	}
	return fmt.Sprintf("pods: %d wanted, %d ready, %d without a node", e.Replicas, e.Ready, e.Overview.Waiting)
}

// workloadEvidence says who holds pods back, and what the pods request and use.
func workloadEvidence(e *diagnosticsv1alpha1.WorkloadExplanation) []string {
	var lines []string
	if e.HeldBy != "" {
		lines = append(lines, "held by "+e.HeldBy)
	}
	if e.Overview == nil {
		return lines
	}
	return append(lines, workloadUse("cpu: requests ", &e.Overview.CPU, diagnosticsv1alpha1.MilliCPU), workloadUse("memory: requests ", &e.Overview.Memory, diagnosticsv1alpha1.Bytes))
}

// workloadUse says what the pods request of a resource, use and leave idle, and what is recommended.
func workloadUse(requests string, r *diagnosticsv1alpha1.WorkloadResource, unit diagnosticsv1alpha1.Unit) string {
	amount := func(v int64) string { return QuantityWithUnit(v, unit) }
	text := requests + amount(r.Requested)
	if r.Batch > 0 {
		text += "; batch of it " + amount(r.Batch)
	}
	if r.Mid > 0 {
		text += "; mid of it " + amount(r.Mid)
	}
	if r.Used == nil || r.Idle == nil {
		text += "; its use is not measured"
	} else {
		text += "; uses " + amount(*r.Used) + "; leaves idle " + amount(*r.Idle)
	}
	if r.Recommended != nil {
		text += "; recommended " + amount(*r.Recommended)
	}
	return text
}

// BriefWorkload is a WorkloadExplanation in short.
func BriefWorkload(e *diagnosticsv1alpha1.WorkloadExplanation) Brief {
	a := Brief{Role: workloadRole(e), Sentence: string(e.State) + ": " + e.Summary, Code: e.Code, Evidence: workloadEvidence(e)}
	a.add(e.Findings)
	if e.WaitingPod != "" {
		a.Next = append(a.Next, explainCommand("pod", e.Namespace, e.WaitingPod))
	}
	kind := strings.ToLower(e.Workload.Kind)
	a.Next = append(a.Next, explainCommand(kind, e.Namespace, e.Name), "koordctl events "+kind+" "+e.Name+" -n "+e.Namespace)
	return a
}

// workloadRole is bad where pods are missing that somebody has to do something about.
func workloadRole(e *diagnosticsv1alpha1.WorkloadExplanation) Role {
	switch e.State {
	case diagnosticsv1alpha1.WorkloadWaiting, diagnosticsv1alpha1.WorkloadRefused:
		return Bad
	case diagnosticsv1alpha1.WorkloadRunning, diagnosticsv1alpha1.WorkloadStopped:
		return Good
	}
	return Warn
}
