package kueueview

import (
	"cmp"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
)

// Trace records what a decision was made from.
type Trace struct {
	in Input
}

func (t *Trace) record(in Input) {
	if t != nil {
		t.in = in
	}
}

// Message says what Kueue waits for; empty where it holds nothing back.
func (t *Trace) Message(v Verdict) string {
	w := t.in.Workload
	switch v.State {
	case QuotaPending:
		return because(fmt.Sprintf("Kueue has not reserved quota of %s for Workload %q", t.queue(), w.Name), said(w, quotaReserved, metav1.ConditionFalse))
	case ChecksPending:
		return because(fmt.Sprintf("Kueue reserved quota of %s for Workload %q and waits for admission checks", t.queue(), w.Name), t.checks())
	case Deactivated:
		return because(fmt.Sprintf("Kueue does not admit Workload %q, because spec.active is false", w.Name), said(w, evicted, metav1.ConditionTrue))
	case Admitted:
		return fmt.Sprintf("Kueue has admitted Workload %q to %s and is about to release the %s", w.Name, t.queue(), t.in.Kind)
	case NoWorkload:
		return fmt.Sprintf("Kueue has made no Workload for the %s: it is not running, or does not manage this namespace or kind", t.in.Kind)
	case Absent:
		return fmt.Sprintf("the %s waits for Kueue, which is not installed in this cluster", t.in.Kind)
	}
	return ""
}

// Finding says what Kueue waits for, with the next command to run. It is for an object that is held.
func (t *Trace) Finding(v Verdict) diagnosticsv1alpha1.Finding {
	out := diagnosticsv1alpha1.Finding{Code: string(v.Code), Severity: diagnosticsv1alpha1.SeverityInfo, Message: t.Message(v), Hint: t.Hint(v)}
	if v.Code == finding.KueueUnresponsive {
		out.Severity = diagnosticsv1alpha1.SeverityWarning
	}
	if w := t.in.Workload; w != nil {
		out.Object = &diagnosticsv1alpha1.SourceRef{Kind: "Workload", Namespace: w.Namespace, Name: w.Name}
	}
	return out
}

// Hint is a command that shows more of what Kueue waits for.
func (t *Trace) Hint(v Verdict) string {
	w := t.in.Workload
	switch {
	case v.Code == finding.KueueUnresponsive:
		return "kubectl get deployments -A -l app.kubernetes.io/name=kueue"
	case w == nil:
		return ""
	case v.State == QuotaPending && t.clusterQueue() != "":
		return "kubectl describe clusterqueue " + t.clusterQueue()
	}
	return fmt.Sprintf("kubectl describe workload.%s %s -n %s", Group, w.Name, w.Namespace)
}

// clusterQueue is where quota is or would be reserved; empty where it is not known.
func (t *Trace) clusterQueue() string {
	if w := t.in.Workload; w != nil && w.Status.Admission != nil {
		return w.Status.Admission.ClusterQueue
	}
	return t.in.ClusterQueue
}

// queue names the ClusterQueue, or the LocalQueue where it is not known.
func (t *Trace) queue() string {
	if name := t.clusterQueue(); name != "" {
		return fmt.Sprintf("ClusterQueue %q", name)
	}
	return fmt.Sprintf("LocalQueue %q", t.in.Workload.Spec.QueueName)
}

// checks are the admission checks that are not ready, with what they say.
func (t *Trace) checks() string {
	var pending []string
	for _, check := range t.in.Workload.Status.AdmissionChecks {
		if check.State == checkReady {
			continue
		}
		text := fmt.Sprintf("%s is %s", check.Name, cmp.Or(check.State, "Pending"))
		if check.Message != "" {
			text += " (" + check.Message + ")"
		}
		pending = append(pending, text)
	}
	return strings.Join(pending, ", ")
}

// because appends a reason, where there is one.
func because(text, reason string) string {
	if reason == "" {
		return text
	}
	return text + ": " + reason
}
