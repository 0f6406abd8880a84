package elasticworkers

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"koordinator.sh/koord/api/finding"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// refusal is why a target is not sized.
type refusal struct {
	// code of the finding; empty where its owner wanted it so.
	code    finding.Code
	reason  string
	message string
}

// conflict says who else sizes the target, or that it is suspended.
func (s *snapshot) conflict(object *schedulingv1alpha1.ElasticWorkers) *refusal {
	ref := object.Spec.TargetRef
	if object.Spec.Suspend {
		return &refusal{reason: "Suspended", message: "spec.suspend is true"}
	}
	for i := range s.objects {
		other := &s.objects[i]
		if other.UID == object.UID {
			break // the others are younger
		}
		if other.Namespace == object.Namespace && other.DeletionTimestamp == nil && same(other.Spec.TargetRef.APIVersion, other.Spec.TargetRef.Kind, other.Spec.TargetRef.Name, ref) {
			return &refusal{finding.WorkersTargetShared, "TargetShared", fmt.Sprintf("%s %q is sized by elasticworkers %q, which is older", ref.Kind, ref.Name, other.Name)}
		}
	}
	for i := range s.autoscalers[object.Namespace] {
		autoscaler := &s.autoscalers[object.Namespace][i]
		if by := autoscaler.Spec.ScaleTargetRef; same(by.APIVersion, by.Kind, by.Name, ref) {
			return &refusal{finding.WorkersTargetAutoscaled, "TargetAutoscaled", fmt.Sprintf("%s %q is scaled by horizontalpodautoscaler %q", ref.Kind, ref.Name, autoscaler.Name)}
		}
	}
	return nil
}

// same compares a reference with a target, whose version may differ.
func same(apiVersion, kind, name string, ref schedulingv1alpha1.ElasticWorkersTarget) bool {
	a, errA := schema.ParseGroupVersion(apiVersion)
	b, errB := schema.ParseGroupVersion(ref.APIVersion)
	return errA == nil && errB == nil && a.Group == b.Group && kind == ref.Kind && name == ref.Name
}

// unusable says why the scale of a target cannot be read, where trying again at once does not help.
func unusable(object *schedulingv1alpha1.ElasticWorkers, err error) (*refusal, error) {
	ref := object.Spec.TargetRef
	refused := func(message string) (*refusal, error) {
		return &refusal{finding.WorkersTargetUnusable, "TargetUnusable", message}, nil
	}
	var status *apierrors.StatusError
	switch {
	case meta.IsNoMatchError(err):
		return refused(fmt.Sprintf("the server doesn't have a resource type %q in %q", ref.Kind, ref.APIVersion))
	case apierrors.IsForbidden(err):
		return refused(fmt.Sprintf("koord-manager may not scale %s %q: %s", ref.Kind, ref.Name, err))
	case apierrors.IsNotFound(err) && errors.As(err, &status) && status.ErrStatus.Details != nil && status.ErrStatus.Details.Name == ref.Name:
		return refused(fmt.Sprintf("%s %q not found", ref.Kind, ref.Name))
	case apierrors.IsNotFound(err):
		return refused(fmt.Sprintf("%s %q has no scale subresource", ref.Kind, ref.Name))
	}
	return nil, fmt.Errorf("read the scale of %s %q: %w", ref.Kind, ref.Name, err)
}

func unselected(object *schedulingv1alpha1.ElasticWorkers) *refusal {
	ref := object.Spec.TargetRef
	return &refusal{finding.WorkersTargetUnusable, "TargetUnusable", fmt.Sprintf("the scale of %s %q has no selector of its pods", ref.Kind, ref.Name)}
}

// refuse writes why a target is not sized, and tells it in an event when that is new.
func (r *reconciler) refuse(ctx context.Context, object *schedulingv1alpha1.ElasticWorkers, why refusal) error {
	status := object.Status.DeepCopy()
	status.ObservedGeneration, status.DesiredReplicas, status.LimitedBy, status.Message = object.Generation, 0, "", why.message
	status.Terms, status.Nodes, status.Next, status.Trend, status.NodesOmitted = nil, nil, nil, nil, 0
	changed := meta.SetStatusCondition(&status.Conditions, metav1.Condition{
		Type: schedulingv1alpha1.ElasticWorkersActive, Status: metav1.ConditionFalse, Reason: why.reason, Message: bounded(why.message), ObservedGeneration: object.Generation,
		LastTransitionTime: metav1.NewTime(r.clock.Now()),
	})
	if !changed && object.Status.ObservedGeneration == object.Generation {
		return nil
	}
	if err := r.write(ctx, object, *status); err != nil {
		return client.IgnoreNotFound(err)
	}
	if why.code != "" {
		r.recorder.Eventf(object, nil, corev1.EventTypeWarning, why.code.Name(), "SizeTarget", "[%s] %.900s", why.code, why.message)
	}
	return nil
}

// bounded cuts a message to what a condition may have.
func bounded(message string) string { return message[:min(len(message), 1024)] }
