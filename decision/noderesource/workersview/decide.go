package workersview

import (
	"cmp"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/core/phrase"
)

// stale is after how long without a decision the target counts as no longer sized. Decisions are made every 15 s.
const stale = 2 * time.Minute

// codes of the findings behind states.
var codes = map[string]finding.Code{
	"TargetShared": finding.WorkersTargetShared, "TargetAutoscaled": finding.WorkersTargetAutoscaled, "TargetUnusable": finding.WorkersTargetUnusable,
}

// Explain answers of one of the ElasticWorkers.
func Explain(in Input) diagnosticsv1alpha1.WorkersExplanation {
	object, status := in.Object, &in.Object.Status
	out := diagnosticsv1alpha1.WorkersExplanation{
		ObjectMeta: metav1.ObjectMeta{Name: object.Name, Namespace: object.Namespace, Labels: object.Labels, CreationTimestamp: object.CreationTimestamp},
		Target:     object.Spec.TargetRef.Kind + "/" + object.Spec.TargetRef.Name, State: Unprocessed,
		Message: "koord-manager has not sized the target yet", Current: status.CurrentReplicas, Desired: status.DesiredReplicas,
		Min: object.Spec.MinReplicas, Max: object.Spec.MaxReplicas, LimitedBy: status.LimitedBy, DecidedAt: status.UpdateTime.DeepCopy(),
		NodesOmitted: status.NodesOmitted,
	}
	if condition := meta.FindStatusCondition(status.Conditions, schedulingv1alpha1.ElasticWorkersActive); condition != nil {
		out.State, out.Message, out.Code = condition.Reason, status.Message, string(codes[condition.Reason])
	}
	if status.UpdateTime != nil && out.State == Sized && in.Now.Sub(status.UpdateTime.Time) > stale {
		out.State = Stale
		out.Message = fmt.Sprintf("koord-manager has not decided for %s, which it does every 15s", in.Now.Sub(status.UpdateTime.Time).Round(time.Second))
	}
	out.Waterfall = waterfall(status)
	for _, node := range status.Nodes {
		out.Nodes = append(out.Nodes, diagnosticsv1alpha1.WorkersNode{Name: node.Name, Workers: node.Workers, Now: node.Now, Later: node.Later, Note: node.Note})
	}
	for _, worker := range status.Draining {
		out.Draining = append(out.Draining, diagnosticsv1alpha1.DrainingWorker{
			Name: worker.Name, Node: worker.Node, Since: worker.Since, Deadline: worker.Deadline, Reason: worker.Reason, Message: worker.Message,
		})
	}
	for _, worker := range status.Next {
		out.Next = append(out.Next, diagnosticsv1alpha1.NextWorker{Name: worker.Name, Node: worker.Node, Reason: worker.Reason})
	}
	out.Notes = notes(in, &out)
	return out
}

// waterfall is the trace of the decision; nil where there is none.
func waterfall(status *schedulingv1alpha1.ElasticWorkersStatus) *diagnosticsv1alpha1.Waterfall {
	if len(status.Terms) == 0 {
		return nil
	}
	out := &diagnosticsv1alpha1.Waterfall{Resource: "workers", Unit: diagnosticsv1alpha1.Count, Result: int64(status.DesiredReplicas), Message: status.Message}
	for _, term := range status.Terms {
		out.Terms = append(out.Terms, diagnosticsv1alpha1.Term{
			Name: term.Name, Operator: diagnosticsv1alpha1.Operator(term.Operator), Value: term.Value, Unit: diagnosticsv1alpha1.Count, Note: term.Note,
		})
	}
	return out
}

// notes say how far the decision can be relied on.
func notes(in Input, out *diagnosticsv1alpha1.WorkersExplanation) []string {
	status := &in.Object.Status
	var notes []string
	switch {
	case out.State == Stale:
		notes = append(notes, "the log of koord-manager may say why, and the size is the one that it decided on last")
	case out.State == Unprocessed:
		notes = append(notes, "koord-manager sizes ElasticWorkers where the chart has elasticWorkers.enabled")
	case status.ObservedGeneration != in.Object.Generation:
		notes = append(notes, "the decision is from an earlier spec")
	}
	if trend := status.Trend; trend != nil && out.State == Sized {
		notes = append(notes, fmt.Sprintf("the size has tended to %s for %s", phrase.Counted(int(trend.Replicas), "worker"), in.Now.Sub(trend.Since.Time).Round(time.Second)))
	}
	if drain := in.Object.Spec.Drain; drain == nil {
		notes = append(notes, "workers do not finish their work before they go: spec.drain is not set")
	} else if drain.HTTP != nil {
		notes = append(notes, asked(drain.HTTP))
	}
	return notes
}

// asked says where the request goes that has a worker finish its work.
func asked(drain *schedulingv1alpha1.ElasticWorkersDrainHTTP) string {
	request := cmp.Or(drain.Method, "PUT") + " " + drain.Path
	if drain.Service != nil {
		return fmt.Sprintf("workers finish their work after %s to port %d of service %q", request, drain.Service.Port, drain.Service.Name)
	}
	return fmt.Sprintf("workers finish their work after %s to their port %d", request, drain.Port)
}
