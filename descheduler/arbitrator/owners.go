package arbitrator

import (
	"context"
	"fmt"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"koordinator.sh/koord/descheduler/replicasets"
)

// scaleMemory is for how long the replicas of a kind that is not known are not asked for again, which no cache has.
const scaleMemory = 10 * time.Second

// owners find what users scale. Replicas of the kinds of Kubernetes come from the cache, those of others, such as CloneSets of OpenKruise,
// from their scale subresource.
type owners struct {
	client client.Client
	now    func() time.Time

	mutex  sync.Mutex
	scales map[types.UID]scaled
}

// scaled is what a scale subresource answered.
type scaled struct {
	replicas replicas
	until    time.Time
}

// owner is a workload. It is not found when its controller does not exist, which a cache may say of a new one.
type owner struct {
	uid        types.UID
	group      schema.GroupVersion
	kind, name string
	found      bool
}

// replicas that a workload should have. They are not found when the workload does not exist, and not known of kinds without a scale.
type replicas struct {
	count        int
	known, found bool
}

func newOwners(client client.Client, now func() time.Time) *owners {
	return &owners{client: client, now: now, scales: map[types.UID]scaled{}}
}

// of is the workload of a controller: the controller of a ReplicaSet where it has one, and else the controller itself.
func (o *owners) of(ctx context.Context, namespace string, controller *metav1.OwnerReference) (owner, error) {
	group, err := schema.ParseGroupVersion(controller.APIVersion)
	if err != nil {
		return owner{uid: controller.UID, kind: controller.Kind, name: controller.Name}, nil // no object can be found by it
	}
	found := owner{uid: controller.UID, group: group, kind: controller.Kind, name: controller.Name, found: true}
	if group.Group != replicasets.Kind.Group || controller.Kind != replicasets.Kind.Kind {
		return found, nil
	}
	var above *metav1.OwnerReference
	if above, found.found, err = replicasets.Above(ctx, o.client, namespace, controller); err != nil {
		return owner{}, err
	}
	if above == nil {
		return found, nil
	}
	if group, err = schema.ParseGroupVersion(above.APIVersion); err != nil {
		return found, nil
	}
	return owner{uid: above.UID, group: group, kind: above.Kind, name: above.Name, found: true}, nil
}

// replicas asks for the replicas of a workload.
func (o *owners) replicas(ctx context.Context, namespace string, of owner) (replicas, error) {
	if !of.found {
		return replicas{}, nil
	}
	object, count := known(of)
	if object == nil {
		return o.scale(ctx, namespace, of), nil
	}
	err := o.client.Get(ctx, types.NamespacedName{Namespace: namespace, Name: of.name}, object)
	switch {
	case apierrors.IsNotFound(err) || err == nil && object.GetUID() != of.uid:
		return replicas{}, nil
	case err != nil:
		return replicas{}, fmt.Errorf("get %s %s/%s: %w", of.kind, namespace, of.name, err)
	}
	return replicas{count: count(), known: true, found: true}, nil
}

// known is an object of a kind of Kubernetes to read a workload into, and how its replicas are read then; nil for other kinds.
func known(of owner) (client.Object, func() int) {
	switch (schema.GroupKind{Group: of.group.Group, Kind: of.kind}) {
	case schema.GroupKind{Group: "apps", Kind: "Deployment"}:
		object := &appsv1.Deployment{}
		return object, func() int { return orOne(object.Spec.Replicas) }
	case schema.GroupKind{Group: "apps", Kind: "StatefulSet"}:
		object := &appsv1.StatefulSet{}
		return object, func() int { return orOne(object.Spec.Replicas) }
	case schema.GroupKind{Group: "apps", Kind: "ReplicaSet"}:
		object := &appsv1.ReplicaSet{}
		return object, func() int { return orOne(object.Spec.Replicas) }
	case schema.GroupKind{Kind: "ReplicationController"}:
		object := &corev1.ReplicationController{}
		return object, func() int { return orOne(object.Spec.Replicas) }
	case schema.GroupKind{Group: "batch", Kind: "Job"}:
		object := &batchv1.Job{}
		return object, func() int { return parallel(object) }
	}
	return nil, nil
}

func orOne(count *int32) int {
	if count == nil {
		return 1
	}
	return int(*count)
}

// parallel is how many pods of a Job should run: its parallelism, but no more than are left to complete.
func parallel(job *batchv1.Job) int {
	count := orOne(job.Spec.Parallelism)
	if job.Spec.Completions != nil {
		count = min(count, int(max(0, *job.Spec.Completions-job.Status.Succeeded)))
	}
	return count
}

// scale asks the scale subresource. Of kinds that have none, or that may not be read, the replicas are not known.
func (o *owners) scale(ctx context.Context, namespace string, of owner) replicas {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	now := o.now()
	for uid, former := range o.scales {
		if !now.Before(former.until) {
			delete(o.scales, uid)
		}
	}
	if former, asked := o.scales[of.uid]; asked {
		return former.replicas
	}
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(of.group.WithKind(of.kind))
	object.SetNamespace(namespace)
	object.SetName(of.name)
	var answer autoscalingv1.Scale
	out := replicas{found: true}
	switch err := o.client.SubResource("scale").Get(ctx, object, &answer); {
	case err == nil:
		out.count, out.known = int(answer.Spec.Replicas), true
	case apierrors.IsNotFound(err) || apierrors.IsForbidden(err) || apierrors.IsMethodNotSupported(err) || meta.IsNoMatchError(err):
	default: // a kind that cannot be read now holds up its own jobs alone
		return replicas{}
	}
	o.scales[of.uid] = scaled{replicas: out, until: now.Add(scaleMemory)}
	return out
}
