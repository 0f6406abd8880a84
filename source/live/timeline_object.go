package live

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/source/objects"
)

var _ source.ObjectTimelineReader = (*Source)(nil)

// ObjectTimeline reads the object, and then what tells of it and of what is below it, at the same time.
func (s *Source) ObjectTimeline(ctx context.Context, of source.Kind, namespace, name string) (*diagnosticsv1alpha1.ObjectTimeline, error) {
	c, err := s.connect()
	if err != nil {
		return nil, err
	}
	if !of.Namespaced {
		namespace = ""
	}
	in := &objects.ObjectSnapshot{Kind: of.API.Kind, Namespace: namespace, Name: name}
	if in.Object, err = c.object(ctx, of, namespace, name); err != nil && !hasCode(err, finding.NotFound) {
		return nil, err
	}
	var gaps gaps
	if err := s.tell(ctx, c, of, in, &gaps); err != nil {
		return nil, err
	}
	if !in.Told() {
		return nil, c.missingOf(ctx, of, namespace, name)
	}
	in.Missing = gaps.all()
	answer := objects.ObjectTimeline(in)
	answer.TypeMeta = kind("ObjectTimeline")
	return answer, nil
}

// tell reads what tells of the object.
func (s *Source) tell(ctx context.Context, c *clients, kind source.Kind, in *objects.ObjectSnapshot, gaps *gaps) error {
	group, groupContext := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		in.Events, err = c.eventsBy(groupContext, namespaceOfEvents(in.Namespace), fields.Set{"involvedObject.kind": in.Kind, "involvedObject.name": in.Name})
		in.EventsSeen = err == nil
		return gaps.lacks(err, "the events of the object are unknown")
	})
	switch {
	case kind == source.KindNode:
		group.Go(func() (err error) {
			in.Audit, in.Notes, err = s.audit(groupContext, in.Name)
			return gaps.lacks(err, "which pods koordlet evicted is unknown")
		})
	case kind == source.KindQuota:
		group.Go(func() error { return c.tellRevoked(groupContext, in, gaps) })
	case kind == source.KindGang || kind == source.KindJob || kind == source.KindDaemonSet || slices.Contains(source.WorkloadKinds, kind):
		group.Go(func() error { return c.tellBelow(groupContext, kind, in, gaps) })
	case kind == source.KindWorkers && in.Object != nil:
		group.Go(func() error { return c.tellTarget(groupContext, in, gaps) })
	case kind == source.KindMigration && in.Object != nil:
		job := &schedulingv1alpha1.PodMigrationJob{}
		if runtime.DefaultUnstructuredConverter.FromUnstructured(in.Object.Object, job) == nil {
			in.Job = job
		}
	}
	return group.Wait()
}

// namespaceOfEvents is where the events about objects of a namespace are; those about objects of none are in the default one.
func namespaceOfEvents(namespace string) string {
	if namespace == "" {
		return metav1.NamespaceDefault
	}
	return namespace
}

// tellRevoked reads the events about pods that left for a quota, which may be of any namespace.
func (c *clients) tellRevoked(ctx context.Context, in *objects.ObjectSnapshot, gaps *gaps) error {
	found, err := c.eventsOfReason(ctx, in.Namespace, objects.ReasonQuotaOverused(), "which pods of other namespaces left for the quota is unknown", gaps)
	in.Below = objects.EventsOfQuota(in.Name, found)
	return gaps.lacks(err, "which pods left for the quota is unknown")
}

// eventsOfReason reads events of all namespaces by their reason. A user who may not list them is told of those of one namespace.
func (c *clients) eventsOfReason(ctx context.Context, namespace, reason, consequence string, gaps *gaps) ([]corev1.Event, error) {
	found, err := c.eventsBy(ctx, "", fields.Set{"reason": reason})
	if hasCode(err, finding.Forbidden) {
		gaps.add(text(err, consequence))
		found, err = c.eventsBy(ctx, namespace, fields.Set{"reason": reason})
	}
	return found, err
}

// tellBelow reads the events about the pods of a workload or gang, and of a Deployment those about its ReplicaSets.
func (c *clients) tellBelow(ctx context.Context, kind source.Kind, in *objects.ObjectSnapshot, gaps *gaps) error {
	pods, err := c.podsBelow(ctx, kind, in)
	if err := gaps.lacks(err, "which pods belong to it is told by their names alone"); err != nil {
		return err
	}
	return c.tellOf(ctx, in, pods, gaps)
}

// tellOf reads the events about pods, and about what else is below a workload.
func (c *clients) tellOf(ctx context.Context, in *objects.ObjectSnapshot, pods []corev1.Pod, gaps *gaps) error {
	kinds := []string{"Pod"}
	if in.Kind == "Deployment" {
		kinds = append(kinds, "ReplicaSet")
	}
	for _, below := range kinds {
		found, err := c.eventsBy(ctx, in.Namespace, fields.Set{"involvedObject.kind": below})
		if err != nil {
			return gaps.lacks(err, "the events of its pods are unknown")
		}
		if len(found) >= eventsLimit {
			in.Notes = append(in.Notes, "there are more events in the namespace than are read, and those of some pods may be missing")
		}
		in.Below = append(in.Below, objects.EventsBelow(in.Kind, in.Name, pods, found)...)
	}
	return nil
}

// podsBelow lists the pods that the selector of a workload selects, or that name the gang.
func (c *clients) podsBelow(ctx context.Context, kind source.Kind, in *objects.ObjectSnapshot) ([]corev1.Pod, error) {
	by := selection{namespace: in.Namespace}
	if kind == source.KindGang {
		pods, err := c.members(ctx, by, podListDrop)
		return slices.DeleteFunc(pods, func(pod corev1.Pod) bool { return extension.GangName(&pod) != in.Name }), err
	}
	if in.Object == nil {
		return nil, nil
	}
	spec, _, _ := unstructured.NestedMap(in.Object.Object, "spec", "selector")
	selector := &metav1.LabelSelector{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(spec, selector); err != nil || len(spec) == 0 {
		return nil, err
	}
	by.labels = metav1.FormatLabelSelector(selector)
	return c.pods(ctx, by, podListDrop)
}

// missingOf makes the error for an object that nothing tells of.
func (c *clients) missingOf(ctx context.Context, kind source.Kind, namespace, name string) error {
	client, err := c.of(kind)
	if err != nil {
		return err
	}
	r := requestFor("list", kind, namespace)
	r.name = name
	hint := "kubectl get " + kind.Plural
	if namespace != "" {
		hint += " -n " + namespace
	}
	return missingAmong(ctx, client, r, hint)
}
