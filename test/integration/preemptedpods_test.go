package integration

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	decision "koordinator.sh/koord/decision/descheduling/migration"
	"koordinator.sh/koord/sandbox/component"
	"koordinator.sh/koord/test/sandboxtest"
)

// preemptingReservations lets Reservations evict pods of lower priority.
func preemptingReservations(t *testing.T, config map[string]any) {
	profile := profileOf(t, config)
	args, _ := profile["pluginConfig"].([]any)
	profile["pluginConfig"] = append(args, map[string]any{"name": "Reservation", "args": map[string]any{
		"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "ReservationArgs", "enablePreemption": true,
	}})
}

// TestAJobListsThePodsThatAreEvictedForIt moves a pod to a node that another one of lower priority fills.
func TestAJobListsThePodsThatAreEvictedForIt(t *testing.T) {
	pause(t, component.Descheduler) // the job is that of the controller of the test
	const name, pool = "it-preempting", "preempting"
	nodes, namespace := machines(t, pool, 2), space(t, "preempting")
	runPods(t, namespace, nodes...)
	startScheduler(t, name, preemptingReservations)
	victim := onNode(demand(namespace, "victim", pool, "cpu", "13", "memory", "1Gi"), nodes[1])
	victim.Spec.SchedulerName, victim.Spec.PriorityClassName = name, ""
	if err := submit(t.Context(), victim); err != nil {
		t.Fatal(err)
	}
	awaitBoundTo(t, namespace, victim.Name, nodes[1])
	victim, err := client.CoreV1().Pods(namespace).Get(t.Context(), victim.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pod := replicated(t, demand(namespace, "moved", pool, "cpu", "4", "memory", "1Gi"), name)

	controller := startControllers(t, func() *decision.Args {
		args := decision.DefaultArgs()
		args.SchedulerNames = []string{name}
		return args
	}, func(ctrl.Manager) error { return nil })
	job := migrationJob(pod, 2*time.Minute)
	job.Spec.ReservationOptions = &schedulingv1alpha1.PodMigrateReservationOptions{PreemptionOptions: &schedulingv1alpha1.PodMigrationJobPreemptionOptions{}}
	controller.startJob(t, job)
	controller.awaitEnd(t, job, schedulingv1alpha1.PodMigrationJobSucceeded, "Complete")
	moved(t, job, pod)
	want := []corev1.ObjectReference{{Kind: "Pod", APIVersion: "v1", Namespace: namespace, Name: "victim", UID: victim.UID}}
	if diff := cmp.Diff(want, job.Status.PreemptedPodsRef); diff != "" {
		t.Errorf("preempted pods (-want +got):\n%s", diff)
	}
	done := decision.Condition(&job.Status, schedulingv1alpha1.PodMigrationJobConditionPreemption)
	if done != nil && done.Reason != schedulingv1alpha1.PodMigrationJobReasonPreemptComplete {
		t.Errorf("condition %+v, want %s", done, schedulingv1alpha1.PodMigrationJobReasonPreemptComplete)
	}
}

// replicated is the only pod of a ReplicaSet, by a scheduler, when it is ready.
func replicated(t *testing.T, template *corev1.Pod, scheduler string) *corev1.Pod {
	t.Helper()
	template.Labels["app"] = template.Name
	template.Spec.SchedulerName, template.Spec.RestartPolicy = scheduler, corev1.RestartPolicyAlways
	_, err := client.AppsV1().ReplicaSets(template.Namespace).Create(t.Context(), &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: template.Name},
		Spec: appsv1.ReplicaSetSpec{
			Replicas: new(int32(1)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": template.Name}},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: template.Labels}, Spec: template.Spec},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var pod *corev1.Pod
	sandboxtest.Eventually(t, patience, func() error {
		list, err := client.CoreV1().Pods(template.Namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "app=" + template.Name})
		if err != nil {
			return err
		}
		if len(list.Items) != 1 || sandboxtest.CountReady(list.Items) != 1 {
			return errors.New("the pod is not ready")
		}
		pod = &list.Items[0]
		return nil
	})
	return pod
}
