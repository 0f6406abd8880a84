package rebalance

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"koordinator.sh/koord/decision/descheduling/rebalance"
)

// workloads finds what owns pods, each controller once in a pass.
type workloads struct {
	client client.Client
	found  []rebalance.Workload
	// of a controller is the place in found; jobs are those of Jobs.
	of   map[types.UID]int
	jobs map[types.UID]*batchv1.Job
	// scaledDown are the targets that autoscalers remove pods of, by namespace, of those that were read.
	scaledDown map[string]map[target]bool

	// What controllers are read into, which are not copied and must not be written to.
	replicaSet  appsv1.ReplicaSet
	deployment  appsv1.Deployment
	statefulSet appsv1.StatefulSet
}

func newWorkloads(reading client.Client) *workloads {
	return &workloads{client: reading, of: map[types.UID]int{}, jobs: map[types.UID]*batchv1.Job{}, scaledDown: map[string]map[target]bool{}}
}

// index of the workload of a pod; -1 for a bare pod.
func (w *workloads) index(ctx context.Context, pod *corev1.Pod) int {
	controller := metav1.GetControllerOfNoCopy(pod)
	if controller == nil {
		return -1
	}
	at, known := w.of[controller.UID]
	if !known {
		owner, freeze, replicas := w.read(ctx, pod.Namespace, controller)
		if at, known = w.of[owner.UID]; !known {
			at = len(w.found)
			// The form is that of the annotation source-workload of PodMigrationJobs.
			w.found = append(w.found, rebalance.Workload{Key: owner.Kind + "/" + owner.Name + "/" + string(owner.UID), Replicas: replicas, Freeze: freeze})
			w.of[owner.UID] = at
		}
		w.of[controller.UID] = at
	}
	return at
}

// read finds the workload of a controller. One that cannot be read is taken as it is referred to.
func (w *workloads) read(ctx context.Context, namespace string, controller *metav1.OwnerReference) (metav1.OwnerReference, rebalance.Freeze, int) {
	key := types.NamespacedName{Namespace: namespace, Name: controller.Name}
	switch controller.Kind {
	case "ReplicaSet":
		set := &w.replicaSet
		if !w.get(ctx, key, controller.UID, set) {
			break
		}
		if above := metav1.GetControllerOfNoCopy(set); above != nil {
			return w.read(ctx, namespace, above)
		}
		return *controller, w.freeze(ctx, rebalance.FreezeOfReplicaSet(set), namespace, controller), int(rebalance.Replicas(set.Spec.Replicas))
	case "Deployment":
		deployment := &w.deployment
		if !w.get(ctx, key, controller.UID, deployment) {
			break
		}
		return *controller, w.freeze(ctx, rebalance.FreezeOfDeployment(deployment), namespace, controller), int(rebalance.Replicas(deployment.Spec.Replicas))
	case "StatefulSet":
		set := &w.statefulSet
		if !w.get(ctx, key, controller.UID, set) {
			break
		}
		return *controller, w.freeze(ctx, rebalance.FreezeOfStatefulSet(set), namespace, controller), int(rebalance.Replicas(set.Spec.Replicas))
	case "Job":
		job := &batchv1.Job{}
		if w.get(ctx, key, controller.UID, job) {
			w.jobs[controller.UID] = job
			return *controller, "", int(rebalance.Replicas(job.Spec.Parallelism))
		}
	}
	return *controller, "", 1
}

// get reads a controller; false for one that cannot be read, or is another one of that name.
func (w *workloads) get(ctx context.Context, key types.NamespacedName, uid types.UID, into client.Object) bool {
	return w.client.Get(ctx, key, into, client.UnsafeDisableDeepCopy) == nil && into.GetUID() == uid
}

// freeze is what a controller does itself, or an autoscaler with it.
func (w *workloads) freeze(ctx context.Context, itself rebalance.Freeze, namespace string, controller *metav1.OwnerReference) rebalance.Freeze {
	if itself != "" {
		return itself
	}
	return w.frozen(ctx, namespace, controller.Kind, controller.Name)
}

// jobOf is the Job that controls a pod; nil for a pod without one, or one that could not be read.
func (w *workloads) jobOf(pod *corev1.Pod) *batchv1.Job {
	controller := metav1.GetControllerOfNoCopy(pod)
	if controller == nil {
		return nil
	}
	return w.jobs[controller.UID]
}
