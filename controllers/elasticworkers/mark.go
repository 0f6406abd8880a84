package elasticworkers

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/noderesource/workers"
)

const (
	// annotationDeletionCost makes a ReplicaSet delete a pod before others.
	annotationDeletionCost = "controller.kubernetes.io/pod-deletion-cost"
	// drainedCost is below what people set.
	drainedCost = "-1000000"
)

// mark is what the annotation of a worker that drains says. It outlives the manager.
type mark struct {
	// Workers is the name of the ElasticWorkers.
	Workers string `json:"workers"`
	// Since and Deadline bound the time that the worker has.
	Since    time.Time `json:"since"`
	Deadline time.Time `json:"deadline"`
	// Reason why it was chosen.
	Reason string `json:"reason,omitempty"`
	// Asked is true once the worker was asked to finish, and Done once it may be taken away.
	Asked bool `json:"asked,omitempty"`
	Done  bool `json:"done,omitempty"`
}

// maxSkew is by how much the clocks of managers may differ.
const maxSkew = time.Minute

// synchronize has the time of a worker begin now if it begins in the future, where a manager whose clock was ahead has put it.
func (m *mark) synchronize(now time.Time) {
	if now = now.UTC().Truncate(time.Second); m.Since.After(now.Add(maxSkew)) {
		m.Since, m.Deadline = now, now.Add(m.Deadline.Sub(m.Since))
	}
}

// markOf reads the mark of a pod; nil where there is none, where it cannot be read, or where others left it.
func markOf(pod *corev1.Pod, object *schedulingv1alpha1.ElasticWorkers) *mark {
	text, marked := pod.Annotations[schedulingv1alpha1.AnnotationWorkerDrain]
	if !marked {
		return nil
	}
	out := &mark{}
	if err := json.Unmarshal([]byte(text), out); err != nil || out.Workers != object.Name || out.Since.IsZero() || out.Deadline.IsZero() {
		return nil
	}
	return out
}

// marksOf are the marks of the workers that a decision chose, by name. Without a drain they may go at once.
func (r *reconciler) marksOf(object *schedulingv1alpha1.ElasticWorkers, verdict workers.Verdict) map[string]mark {
	out, now := make(map[string]mark, len(verdict.Drain)), r.clock.Now().UTC().Truncate(time.Second)
	deadline := now
	if drain := object.Spec.Drain; drain != nil {
		deadline = now.Add(seconds(drain.DeadlineSeconds, 600))
	}
	for _, candidate := range verdict.Drain {
		out[candidate.Name] = mark{Workers: object.Name, Since: now, Deadline: deadline, Reason: candidate.Reason}
	}
	return out
}

// choose marks the workers that are to go.
func (r *reconciler) choose(ctx context.Context, object *schedulingv1alpha1.ElasticWorkers, t *target, chosen map[string]mark) error {
	for i := range t.pods {
		w := &t.pods[i]
		one, goes := chosen[w.pod.Name]
		if !goes {
			continue
		}
		w.mark = &one
		if err := r.remember(ctx, w); err != nil {
			return err
		}
		r.recorder.Eventf(object, w.pod, corev1.EventTypeNormal, "WorkerChosen", "DrainWorker", "Worker %s goes until %s: %s",
			w.pod.Name, one.Deadline.Format(time.RFC3339), one.Reason)
	}
	return nil
}

// remember writes the mark of a worker. The UID keeps it from a new pod of the same name; a pod that is gone needs none.
func (r *reconciler) remember(ctx context.Context, w *worker) error {
	text, err := json.Marshal(w.mark)
	if err != nil {
		return fmt.Errorf("encode the mark of pod %q: %w", w.pod.Name, err)
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": w.pod.UID, "annotations": map[string]string{schedulingv1alpha1.AnnotationWorkerDrain: string(text), annotationDeletionCost: drainedCost},
	}})
	if err != nil {
		return fmt.Errorf("encode the mark of pod %q: %w", w.pod.Name, err)
	}
	pod := &corev1.Pod{}
	pod.Namespace, pod.Name = w.pod.Namespace, w.pod.Name
	err = r.client.Patch(ctx, pod, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(fieldOwner))
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("mark pod %q: %w", w.pod.Name, err)
	}
	return nil
}
