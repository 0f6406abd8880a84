package elasticworkers

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/core/phrase"
	"koordinator.sh/koord/decision/noderesource/workers"
	"koordinator.sh/koord/decision/scheduling/nodefit"
)

const (
	// mostNodes and mostNext bound the lists of a status.
	mostNodes = 20
	mostNext  = 10
)

// status is what a decision comes to, with the workers that are about to be chosen.
func (s *snapshot) status(object *schedulingv1alpha1.ElasticWorkers, t *target, in workers.Input, verdict workers.Verdict, trace *workers.Trace, chosen map[string]mark) schedulingv1alpha1.ElasticWorkersStatus {
	out := schedulingv1alpha1.ElasticWorkersStatus{
		ObservedGeneration: object.Generation, UpdateTime: timeOf(in.Now), CurrentReplicas: in.Current, DesiredReplicas: verdict.Desired,
		LimitedBy: verdict.LimitedBy, WorkerRequests: object.Status.WorkerRequests, Conditions: object.Status.DeepCopy().Conditions,
		LastScaleUpTime: timeOf(verdict.History.Up), LastScaleDownTime: timeOf(verdict.History.Down),
	}
	if sample := t.sample(); sample != nil {
		out.WorkerRequests = nodefit.RequestsOf(sample)
	}
	if trend := verdict.History.Trend; trend != nil {
		out.Trend = &schedulingv1alpha1.ElasticWorkersTrend{Direction: string(trend.Direction), Since: *timeOf(trend.Since), Replicas: trend.Replicas}
	}
	for _, term := range trace.Terms {
		out.Terms = append(out.Terms, schedulingv1alpha1.ElasticWorkersTerm{Name: term.Name, Operator: string(term.Operator), Value: term.Value, Note: term.Note})
	}
	for _, room := range trace.Rooms[:min(len(trace.Rooms), mostNodes)] {
		out.Nodes = append(out.Nodes, schedulingv1alpha1.ElasticWorkersNode{Name: room.Name, Workers: room.Workers, Now: room.Now, Later: room.Later, Note: room.Note})
	}
	out.NodesOmitted = int32(max(len(trace.Rooms)-mostNodes, 0))
	for _, candidate := range trace.Candidates {
		if _, goes := chosen[candidate.Name]; !goes && len(out.Next) < mostNext {
			out.Next = append(out.Next, nextOf(candidate))
		}
	}
	out.Draining = t.drainingStatus(chosen)
	out.Message = messageOf(&out)
	meta.SetStatusCondition(&out.Conditions, metav1.Condition{
		Type: schedulingv1alpha1.ElasticWorkersActive, Status: metav1.ConditionTrue, Reason: "Sized", ObservedGeneration: object.Generation, LastTransitionTime: *timeOf(in.Now),
	})
	return out
}

func nextOf(candidate workers.Candidate) schedulingv1alpha1.ElasticWorkersCandidate {
	out := schedulingv1alpha1.ElasticWorkersCandidate{Name: candidate.Name, Node: candidate.Node, Reason: candidate.Reason}
	if candidate.Budget != "" {
		out.Reason += fmt.Sprintf("; PodDisruptionBudget %s keeps it", candidate.Budget)
	}
	return out
}

// drainingStatus lists the workers that drain, and those that are about to.
func (t *target) drainingStatus(chosen map[string]mark) []schedulingv1alpha1.ElasticWorkersDraining {
	var out []schedulingv1alpha1.ElasticWorkersDraining
	for i := range t.pods {
		w := &t.pods[i]
		m, message := w.mark, w.message
		if m == nil {
			one, goes := chosen[w.pod.Name]
			if !goes {
				continue
			}
			m, message = &one, "chosen"
		}
		out = append(out, schedulingv1alpha1.ElasticWorkersDraining{
			Name: w.pod.Name, UID: w.pod.UID, Node: w.pod.Spec.NodeName, Since: *timeOf(m.Since), Deadline: *timeOf(m.Deadline), Reason: m.Reason, Message: message,
		})
	}
	return out
}

// messageOf says in a sentence why the target has its size.
func messageOf(status *schedulingv1alpha1.ElasticWorkersStatus) string {
	size := phrase.Counted(int(status.DesiredReplicas), "worker")
	for _, term := range status.Terms {
		if term.Name == status.LimitedBy && term.Note != "" {
			return fmt.Sprintf("%s, limited by %s: %s", size, term.Name, term.Note)
		}
	}
	return fmt.Sprintf("%s, limited by %s", size, status.LimitedBy)
}

// timeOf is a time as the API keeps it; nil for none.
func timeOf(at time.Time) *metav1.Time {
	if at.IsZero() {
		return nil
	}
	return &metav1.Time{Time: at.Truncate(time.Second)}
}

// write patches the status. The error of an object that was deleted satisfies IsNotFound.
func (r *reconciler) write(ctx context.Context, object *schedulingv1alpha1.ElasticWorkers, status schedulingv1alpha1.ElasticWorkersStatus) error {
	old := object.DeepCopy()
	object.Status = status
	publish(object)
	if err := r.client.Status().Patch(ctx, object, client.MergeFrom(old), client.FieldOwner(fieldOwner)); err != nil {
		return fmt.Errorf("patch the status: %w", err)
	}
	return nil
}
