package realnode

import (
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/dynamic"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/sandbox/realnode"
	"koordinator.sh/koord/test/sandboxtest"
)

// migrated is the namespace of the Deployments that are migrated.
const migrated = "migrated"

// testMigrated has koord-descheduler move a pod of a Deployment with a PodDisruptionBudget from this machine, where its containers really
// run, to a simulated node, and one of another Deployment from there to this machine, where they are really started.
func (r *rig) testMigrated(t *testing.T) {
	simulated := []string{"sim-0001", "sim-0002"}
	_, err := r.client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: migrated}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// It takes pods however busy it is: 0 disables a threshold.
	r.patchNode(t, r.node, fmt.Sprintf(`{"metadata":{"annotations":{%q:"{\"usageThresholds\":{\"cpu\":0,\"memory\":0}}"}}}`, extension.AnnotationCustomUsageThresholds))

	r.cordon(t, true, simulated...)
	r.createDeployment(t, "leaving")
	pods := r.awaitOn(t, "leaving", r.node)
	leastLeaving := sandboxtest.LeastReady(t, r.client, migrated, metav1.ListOptions{LabelSelector: "app=leaving"})
	r.cordon(t, false, simulated...)
	left := r.migrate(t, pods[0].Name)
	r.awaitReplicas(t, "leaving", r.node, left.Status.NodeName)

	r.cordon(t, true, r.node, simulated[1])
	r.createDeployment(t, "arriving")
	pods = r.awaitOn(t, "arriving", simulated[0])
	leastArriving := sandboxtest.LeastReady(t, r.client, migrated, metav1.ListOptions{LabelSelector: "app=arriving"})
	r.cordon(t, false, r.node)
	arrived := r.migrate(t, pods[0].Name)
	r.awaitReplicas(t, "arriving", simulated[0], r.node)
	r.cordon(t, false, simulated...)

	if left.Status.NodeName == r.node || arrived.Status.NodeName != r.node {
		t.Errorf("the pods moved to nodes %q and %q, want another one than %q and it", left.Status.NodeName, arrived.Status.NodeName, r.node)
	}
	if leaving, arriving := leastLeaving(), leastArriving(); leaving < 1 || arriving < 1 {
		t.Errorf("at least %d and %d pods were ready at any time, and the budgets ask for 1", leaving, arriving)
	}
}

// cordon keeps new pods from nodes, or no longer.
func (r *rig) cordon(t *testing.T, unschedulable bool, nodes ...string) {
	t.Helper()
	for _, name := range nodes {
		r.patchNode(t, name, fmt.Sprintf(`{"spec":{"unschedulable":%t}}`, unschedulable))
	}
}

func (r *rig) patchNode(t *testing.T, name, patch string) {
	t.Helper()
	if _, err := r.client.CoreV1().Nodes().Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}

// createDeployment creates one of two pods, of which one may be missing.
func (r *rig) createDeployment(t *testing.T, name string) {
	t.Helper()
	labels := &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
	_, err := r.client.AppsV1().Deployments(migrated).Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{Replicas: new(int32(2)), Selector: labels, Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels.MatchLabels},
			Spec: corev1.PodSpec{SchedulerName: "koord-scheduler", Containers: []corev1.Container{{
				Name: "main", Image: realnode.PauseImage, ImagePullPolicy: corev1.PullNever, Resources: corev1.ResourceRequirements{Requests: cpu("10m")},
			}}},
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.client.PolicyV1().PodDisruptionBudgets(migrated).Create(t.Context(), &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: policyv1.PodDisruptionBudgetSpec{MinAvailable: new(intstr.FromInt32(1)), Selector: labels},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

// awaitOn waits until two pods of a new Deployment are ready on a node. koord-scheduler may know of the Deployment before it knows which nodes
// are cordoned: pods elsewhere are deleted, and created again.
func (r *rig) awaitOn(t *testing.T, deployment, node string) []corev1.Pod {
	t.Helper()
	sandboxtest.Eventually(t, patience, func() error {
		list, err := r.client.CoreV1().Pods(migrated).List(t.Context(), metav1.ListOptions{LabelSelector: "app=" + deployment})
		if err != nil {
			return err
		}
		placed := 0
		for i := range list.Items {
			pod := &list.Items[i]
			if pod.Spec.NodeName == node {
				placed++
			} else if pod.Spec.NodeName != "" && pod.DeletionTimestamp == nil {
				if err := r.client.CoreV1().Pods(migrated).Delete(t.Context(), pod.Name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
					return err
				}
			}
		}
		if placed != 2 {
			return fmt.Errorf("%d pods of deployment %s are on node %s, want 2", placed, deployment, node)
		}
		return nil
	})
	return r.awaitReplicas(t, deployment, node, node)
}

// awaitReplicas waits until two pods of a Deployment are ready, one on each of these nodes, and no other is left.
func (r *rig) awaitReplicas(t *testing.T, deployment, first, second string) []corev1.Pod {
	t.Helper()
	var pods []corev1.Pod
	sandboxtest.Eventually(t, patience, func() error {
		list, err := r.client.CoreV1().Pods(migrated).List(t.Context(), metav1.ListOptions{LabelSelector: "app=" + deployment})
		if err != nil {
			return err
		}
		pods = list.Items
		want, got := map[string]int{first: 1}, map[string]int{}
		want[second]++
		for i := range pods {
			if sandboxtest.Ready(&pods[i]) {
				got[pods[i].Spec.NodeName]++
			}
		}
		if len(pods) != 2 || got[first] != want[first] || got[second] != want[second] {
			return fmt.Errorf("%d pods, those that are ready by node: %v, want %v and no more", len(pods), got, want)
		}
		return nil
	})
	return pods
}

// migrate has koord-descheduler migrate a pod, and returns the job when it has succeeded.
func (r *rig) migrate(t *testing.T, pod string) *schedulingv1alpha1.PodMigrationJob {
	t.Helper()
	job := &schedulingv1alpha1.PodMigrationJob{
		TypeMeta:   metav1.TypeMeta{APIVersion: schedulingv1alpha1.GroupVersion.String(), Kind: "PodMigrationJob"},
		ObjectMeta: metav1.ObjectMeta{Name: pod},
		Spec: schedulingv1alpha1.PodMigrationJobSpec{
			TTL: &metav1.Duration{Duration: 5 * time.Minute}, PodRef: &corev1.ObjectReference{Namespace: migrated, Name: pod},
		},
	}
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(job)
	if err != nil {
		t.Fatal(err)
	}
	jobs := r.jobs()
	if _, err := jobs.Create(t.Context(), &unstructured.Unstructured{Object: object}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	sandboxtest.Eventually(t, 2*patience, func() error {
		got, err := jobs.Get(t.Context(), pod, metav1.GetOptions{})
		if err == nil {
			err = runtime.DefaultUnstructuredConverter.FromUnstructured(got.Object, job)
		}
		if err == nil && job.Status.Phase != schedulingv1alpha1.PodMigrationJobSucceeded {
			err = fmt.Errorf("job %q is %s: %+v", pod, job.Status.Phase, job.Status)
		}
		return err
	})
	return job
}

func (r *rig) jobs() dynamic.ResourceInterface {
	return r.dynamic.Resource(schedulingv1alpha1.GroupVersion.WithResource("podmigrationjobs"))
}
