package live

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/source/objects"
)

// tellTarget reads the events about the target of ElasticWorkers, and about its workers.
func (c *clients) tellTarget(ctx context.Context, in *objects.ObjectSnapshot, gaps *gaps) error {
	object := &schedulingv1alpha1.ElasticWorkers{}
	if runtime.DefaultUnstructuredConverter.FromUnstructured(in.Object.Object, object) != nil {
		return nil // what is not served by our definition tells nothing of a target
	}
	ref := object.Spec.TargetRef
	target := &objects.ObjectSnapshot{Kind: ref.Kind, Namespace: in.Namespace, Name: ref.Name}
	events, err := c.eventsBy(ctx, in.Namespace, fields.Set{"involvedObject.kind": ref.Kind, "involvedObject.name": ref.Name})
	if err != nil {
		return gaps.lacks(err, "the events of its target and its workers are unknown")
	}
	if err := c.tellWorkers(ctx, object, target, gaps); err != nil {
		return err
	}
	in.Below = append(events, target.Below...)
	in.Notes = append(in.Notes, target.Notes...)
	return nil
}

// tellWorkers reads the events about the pods of a target: those that it selects, and for one of a kind whose pods only its controller knows
// those that the status of the ElasticWorkers names.
func (c *clients) tellWorkers(ctx context.Context, of *schedulingv1alpha1.ElasticWorkers, target *objects.ObjectSnapshot, gaps *gaps) error {
	kind, known := workloadKind(of.Spec.TargetRef)
	if !known {
		return c.tellOf(ctx, target, namedWorkers(of), gaps)
	}
	var err error
	target.Object, err = c.object(ctx, kind, target.Namespace, target.Name)
	if err := gaps.lacks(err, "which pods belong to it is told by their names alone"); err != nil {
		return err
	}
	return c.tellBelow(ctx, kind, target, gaps)
}

// workloadKind is the kind of a target, if it is a workload of Kubernetes.
func workloadKind(ref schedulingv1alpha1.ElasticWorkersTarget) (source.Kind, bool) {
	for _, kind := range source.WorkloadKinds {
		if kind.API == schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind) {
			return kind, true
		}
	}
	return source.Kind{}, false
}

// namedWorkers are the workers that a status names: those that drain, and those that would go first.
func namedWorkers(of *schedulingv1alpha1.ElasticWorkers) []corev1.Pod {
	var pods []corev1.Pod
	named := func(name string) {
		pods = append(pods, corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: of.Namespace, Name: name}})
	}
	for i := range of.Status.Draining {
		named(of.Status.Draining[i].Name)
	}
	for i := range of.Status.Next {
		named(of.Status.Next[i].Name)
	}
	return pods
}
