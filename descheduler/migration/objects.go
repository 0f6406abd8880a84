package migration

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corelisters "k8s.io/client-go/listers/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/migration"
)

// objects reads the objects of jobs. What does not exist is nil. Nothing that is returned may be modified.
type objects interface {
	job(ctx context.Context, name string) (*schedulingv1alpha1.PodMigrationJob, error)
	reservation(ctx context.Context, name string) (*schedulingv1alpha1.Reservation, error)
	pod(ctx context.Context, namespace, name string) (*corev1.Pod, error)
	node(ctx context.Context, name string) (*corev1.Node, error)
	deployment(ctx context.Context, namespace string, replicaSet *metav1.OwnerReference) (*appsv1.Deployment, error)
	jobs(ctx context.Context) ([]schedulingv1alpha1.PodMigrationJob, error)
}

// read gets one object by a reader.
func read[T any, P interface {
	*T
	client.Object
}](ctx context.Context, reader client.Reader, namespace, name string) (P, error) {
	object := P(new(T))
	err := reader.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, object)
	return found(object, err, name)
}

// found turns an object that does not exist into nil.
func found[P client.Object](object P, err error, name string) (P, error) {
	var none P
	if apierrors.IsNotFound(err) {
		return none, nil
	}
	if err != nil {
		return none, fmt.Errorf("get %T %q: %w", object, name, err)
	}
	return object, nil
}

// byReader reads all objects by one reader.
type byReader struct{ client.Reader }

func (o byReader) job(ctx context.Context, name string) (*schedulingv1alpha1.PodMigrationJob, error) {
	return read[schedulingv1alpha1.PodMigrationJob](ctx, o, "", name)
}

func (o byReader) reservation(ctx context.Context, name string) (*schedulingv1alpha1.Reservation, error) {
	return read[schedulingv1alpha1.Reservation](ctx, o, "", name)
}

func (o byReader) pod(ctx context.Context, namespace, name string) (*corev1.Pod, error) {
	return read[corev1.Pod](ctx, o, namespace, name)
}

func (o byReader) node(ctx context.Context, name string) (*corev1.Node, error) {
	return read[corev1.Node](ctx, o, "", name)
}

// byListers reads pods and nodes from shared informers.
type byListers struct {
	byReader
	pods  corelisters.PodLister
	nodes corelisters.NodeLister
}

func (o byListers) pod(_ context.Context, namespace, name string) (*corev1.Pod, error) {
	pod, err := o.pods.Pods(namespace).Get(name)
	return found(pod, err, name)
}

func (o byListers) node(_ context.Context, name string) (*corev1.Node, error) {
	node, err := o.nodes.Get(name)
	return found(node, err, name)
}

func cachedObjects(mgr ctrl.Manager, options Options) objects {
	cached := byReader{mgr.GetClient()}
	if options.Informers == nil {
		return cached
	}
	core := options.Informers.Core().V1()
	return byListers{byReader: cached, pods: core.Pods().Lister(), nodes: core.Nodes().Lister()}
}

func liveObjects(reader client.Reader) objects { return byReader{reader} }

// situation is a job and the objects it is about.
type situation struct {
	job         *schedulingv1alpha1.PodMigrationJob
	pod         *corev1.Pod
	reservation *schedulingv1alpha1.Reservation
	node        *corev1.Node
	replacement *corev1.Pod
	// workload is read by readWorkload.
	workload *migration.Workload
	// request and requestRefusal are read by readRequest.
	request        *migration.EvictionRequest
	requestRefusal string
}

// situationOf reads what a job is about.
func situationOf(ctx context.Context, from objects, job *schedulingv1alpha1.PodMigrationJob) (situation, error) {
	s := situation{job: job}
	var err error
	if ref := job.Spec.PodRef; ref != nil && ref.Name != "" && ref.Namespace != "" {
		if s.pod, err = from.pod(ctx, ref.Namespace, ref.Name); err != nil {
			return s, err
		}
	}
	if s.reservation, err = from.reservation(ctx, migration.ReservationName(job)); err != nil {
		return s, err
	}
	replacement := job.Status.PodRef
	if s.reservation != nil {
		if s.reservation.Status.NodeName != "" {
			if s.node, err = from.node(ctx, s.reservation.Status.NodeName); err != nil {
				return s, err
			}
		}
		if owners := s.reservation.Status.CurrentOwners; replacement == nil && len(owners) > 0 {
			replacement = &owners[0]
		}
	}
	if replacement != nil && replacement.Name != "" {
		s.replacement, err = from.pod(ctx, replacement.Namespace, replacement.Name)
	}
	return s, err
}

// world is what the decision reads of the objects.
func (s *situation) world() migration.World {
	return migration.World{
		Pod: migration.PodOf(s.pod), Reservation: migration.ReservationOf(s.reservation, s.job),
		Node: migration.NodeOf(s.node), Replacement: migration.ReplacementOf(s.replacement), Workload: s.workload,
		EvictionRequest: s.request, EvictionRequestRefusal: s.requestRefusal,
	}
}
