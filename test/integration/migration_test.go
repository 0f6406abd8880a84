package integration

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/transport"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"koordinator.sh/koord/api/configuration"
	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	decision "koordinator.sh/koord/decision/descheduling/migration"
	"koordinator.sh/koord/descheduler/arbitrator"
	"koordinator.sh/koord/descheduler/migration"
	"koordinator.sh/koord/sandbox/component"
	"koordinator.sh/koord/test/sandboxtest"
)

// migrator is a migration controller in this process.
type migrator struct {
	// Client writes past the cache.
	ctrlclient.Client
	stop  context.CancelFunc
	ended chan error
}

// startMigrator runs a controller until it is killed or the test ends, with connections that may be wrapped.
func startMigrator(t *testing.T, wrap ...transport.WrapperFunc) *migrator {
	t.Helper()
	return startControllers(t, decision.DefaultArgs, func(ctrl.Manager) error { return nil }, wrap...)
}

// startArbitrated also lets jobs start, within the limits of its arguments.
func startArbitrated(t *testing.T, args *decision.Args, wrap ...transport.WrapperFunc) *migrator {
	t.Helper()
	settings, err := arbitrator.SettingsOf(args, nil)
	if err != nil {
		t.Fatal(err)
	}
	return startControllers(t, func() *decision.Args { return args }, func(mgr ctrl.Manager) error {
		return mgr.Add(arbitrator.New(arbitrator.Config{
			Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Namespace: configuration.DefaultNamespace,
			Settings: func() arbitrator.Settings { return settings }, Log: logr.Discard(),
		}))
	}, wrap...)
}

func startControllers(t *testing.T, args func() *decision.Args, add func(ctrl.Manager) error, wrap ...transport.WrapperFunc) *migrator {
	t.Helper()
	config := administrator(t)
	for _, wrapper := range wrap {
		config.Wrap(wrapper)
	}
	evicting, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	scheme := migrationScheme(t)
	mgr, err := ctrl.NewManager(config, ctrl.Options{Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(migration.Add(t.Context(), mgr, migration.Options{
		Args: args, Retention: func() decision.Retention { return decision.RetentionOf() }, Client: evicting, Dynamic: objects,
	}), add(mgr)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	m := &migrator{stop: cancel, ended: make(chan error, 1)}
	go func() { m.ended <- mgr.Start(ctx) }()
	t.Cleanup(func() { m.kill(t) })
	if m.Client, err = ctrlclient.New(administrator(t), ctrlclient.Options{Scheme: scheme}); err != nil {
		t.Fatal(err)
	}
	return m
}

func migrationScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), schedulingv1alpha1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	return scheme
}

// kill ends the controller and waits for its end. It may be called twice.
func (m *migrator) kill(t *testing.T) {
	t.Helper()
	m.stop()
	select {
	case err, running := <-m.ended:
		if running && err != nil {
			t.Errorf("the controller ended: %v", err)
		}
		if running {
			close(m.ended)
		}
	case <-time.After(patience):
		t.Error("the controller does not end")
	}
}

// webDeployment is a Deployment of three pods, unless edited, with a budget, in a namespace of the test's own. It returns its pods when they
// are ready.
func webDeployment(t *testing.T, namespace string, minAvailable int, edits ...func(*appsv1.DeploymentSpec)) []corev1.Pod {
	t.Helper()
	space(t, namespace)
	labels := map[string]string{"app": "web"}
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{Replicas: new(int32(3)), Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec: corev1.PodSpec{SchedulerName: "koord-scheduler", TerminationGracePeriodSeconds: new(int64(1)), Containers: []corev1.Container{{
				Name: "main", Image: "registry.k8s.io/pause:3.10",
				Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}},
			}}},
		}},
	}
	for _, edit := range edits {
		edit(&deployment.Spec)
	}
	if _, err := client.AppsV1().Deployments(namespace).Create(t.Context(), deployment, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	_, err := client.PolicyV1().PodDisruptionBudgets(namespace).Create(t.Context(), &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: new(intstr.FromInt(minAvailable)), Selector: &metav1.LabelSelector{MatchLabels: labels}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var pods []corev1.Pod
	sandboxtest.Eventually(t, patience, func() error {
		budget, err := client.PolicyV1().PodDisruptionBudgets(namespace).Get(t.Context(), "web", metav1.GetOptions{})
		if err != nil {
			return err
		}
		list, err := client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		pods = list.Items
		if count, want := sandboxtest.CountReady(pods), *deployment.Spec.Replicas; count != int(want) || budget.Status.CurrentHealthy != want {
			return fmt.Errorf("%d pods are ready, the budget counts %d, want %d", count, budget.Status.CurrentHealthy, want)
		}
		return nil
	})
	return pods
}

// migrationJob is a job that may start, for a pod.
func migrationJob(pod *corev1.Pod, ttl time.Duration) *schedulingv1alpha1.PodMigrationJob {
	job := newJob(pod, ttl)
	job.Annotations = map[string]string{extension.AnnotationPassedArbitration: "true"}
	return job
}

// newJob is a job that waits for the arbitrator, for a pod.
func newJob(pod *corev1.Pod, ttl time.Duration) *schedulingv1alpha1.PodMigrationJob {
	return &schedulingv1alpha1.PodMigrationJob{
		ObjectMeta: metav1.ObjectMeta{Name: pod.Namespace + "-" + pod.Name},
		Spec: schedulingv1alpha1.PodMigrationJobSpec{
			TTL: &metav1.Duration{Duration: ttl}, PodRef: &corev1.ObjectReference{Namespace: pod.Namespace, Name: pod.Name},
		},
	}
}

// startJob creates a job for the time of the test.
func (m *migrator) startJob(t *testing.T, job *schedulingv1alpha1.PodMigrationJob) {
	t.Helper()
	if err := m.Create(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ctrlclient.IgnoreNotFound(m.Delete(context.Background(), job)); err != nil {
			t.Error(err)
		}
	})
}

// awaitJob waits until a job is as wanted.
func (m *migrator) awaitJob(t *testing.T, job *schedulingv1alpha1.PodMigrationJob, within time.Duration, check func() error) {
	t.Helper()
	sandboxtest.Eventually(t, within, func() error {
		if err := m.Get(t.Context(), ctrlclient.ObjectKeyFromObject(job), job); err != nil {
			return err
		}
		if err := check(); err != nil {
			return fmt.Errorf("%w: %+v", err, job.Status)
		}
		return nil
	})
}

// awaitEnd waits until a job has ended in a phase and for a reason.
func (m *migrator) awaitEnd(t *testing.T, job *schedulingv1alpha1.PodMigrationJob, phase schedulingv1alpha1.PodMigrationJobPhase, reason string) {
	t.Helper()
	m.awaitJob(t, job, 2*patience, func() error {
		if !decision.Finished(job) {
			return errors.New("the job has not ended")
		}
		return nil
	})
	if job.Status.Phase != phase || job.Status.Reason != reason {
		t.Fatalf("the job ended as %s, %s, want %s, %s: %+v", job.Status.Phase, job.Status.Reason, phase, reason, job.Status)
	}
}

// awaitRefusal waits until the budget refused an eviction, so that the job is at its last step before the pod leaves.
func (m *migrator) awaitRefusal(t *testing.T, job *schedulingv1alpha1.PodMigrationJob) {
	t.Helper()
	m.awaitJob(t, job, patience, func() error {
		eviction := decision.Condition(&job.Status, schedulingv1alpha1.PodMigrationJobConditionEviction)
		if eviction == nil || eviction.Attempts == 0 {
			return errors.New("no eviction was refused yet")
		}
		return nil
	})
}

// released waits until the reservation of a job is gone.
func released(t *testing.T, job *schedulingv1alpha1.PodMigrationJob) {
	t.Helper()
	sandboxtest.Eventually(t, patience, func() error {
		reservation, err := reservationNamed(t.Context(), string(job.UID))
		if err == nil && reservation != nil {
			err = fmt.Errorf("reservation %s is still there: %+v", reservation.Name, reservation.Status)
		}
		return err
	})
}

// untouched checks that the pods are those from before.
func untouched(t *testing.T, namespace string, before []corev1.Pod) {
	t.Helper()
	list, err := client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	uids := map[types.UID]bool{}
	for _, pod := range list.Items {
		uids[pod.UID] = pod.DeletionTimestamp == nil
	}
	for _, pod := range before {
		if !uids[pod.UID] {
			t.Errorf("pod %s left", pod.Name)
		}
	}
}

// moved checks that the pod that replaced another one used the reservation, and is on another node.
func moved(t *testing.T, job *schedulingv1alpha1.PodMigrationJob, from *corev1.Pod) {
	t.Helper()
	pod, err := client.CoreV1().Pods(from.Namespace).Get(t.Context(), job.Status.PodRef.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	allocated, err := extension.GetReservationAllocated(pod.Annotations)
	if err != nil || allocated == nil || allocated.Name != string(job.UID) {
		t.Errorf("pod %s uses reservation %+v, want %s: %v", pod.Name, allocated, job.UID, err)
	}
	if pod.Spec.NodeName == from.Spec.NodeName || pod.Spec.NodeName != job.Status.NodeName {
		t.Errorf("pod %s is on node %s, want %s, not %s", pod.Name, pod.Spec.NodeName, job.Status.NodeName, from.Spec.NodeName)
	}
}

// TestADeploymentIsMigratedWithinItsBudget moves all three pods, one at a time, as the arbitrator lets jobs of such a workload start: pods
// of one controller may use each other's reservations.
func TestADeploymentIsMigratedWithinItsBudget(t *testing.T) {
	pause(t, component.Descheduler) // the jobs are those of the controller of the test
	const namespace = "migrated"
	pods := webDeployment(t, namespace, 2)
	least := sandboxtest.LeastReady(t, client, namespace, metav1.ListOptions{})
	controller := startMigrator(t)
	for i := range pods {
		job := migrationJob(&pods[i], 2*time.Minute)
		controller.startJob(t, job)
		controller.awaitEnd(t, job, schedulingv1alpha1.PodMigrationJobSucceeded, "Complete")
		moved(t, job, &pods[i])
	}
	if got := least(); got < 2 {
		t.Errorf("at least %d pods were ready at any time, want 2", got)
	}
}

// TestAMigrationThatIsNotToBeGivesUp: no pod leaves where the budget lets none go, whatever happens to the job, and nothing is left reserved.
func TestAMigrationThatIsNotToBeGivesUp(t *testing.T) {
	pause(t, component.Descheduler) // the jobs are those of the controller of the test
	const namespace = "migration-refused"
	pods := webDeployment(t, namespace, 3)
	controller := startMigrator(t)
	t.Run("a refusal that never ends", func(t *testing.T) {
		job := migrationJob(&pods[0], 20*time.Second)
		controller.startJob(t, job)
		controller.awaitEnd(t, job, schedulingv1alpha1.PodMigrationJobFailed, schedulingv1alpha1.PodMigrationJobReasonTimeout)
		eviction := decision.Condition(&job.Status, schedulingv1alpha1.PodMigrationJobConditionEviction)
		if eviction == nil || eviction.Attempts < 2 || eviction.Attempts > 5 {
			t.Errorf("condition %+v, want two to five attempts in 20 seconds", eviction)
		}
		released(t, job)
	})
	t.Run("a user deletes the reservation", func(t *testing.T) {
		job := migrationJob(&pods[1], 2*time.Minute)
		controller.startJob(t, job)
		controller.awaitRefusal(t, job)
		if err := withdraw(t.Context(), reservationResource, "", string(job.UID)); err != nil {
			t.Fatal(err)
		}
		controller.awaitEnd(t, job, schedulingv1alpha1.PodMigrationJobAborted, schedulingv1alpha1.PodMigrationJobReasonMissingReservation)
		released(t, job)
	})
	t.Run("a user deletes the job", func(t *testing.T) {
		job := migrationJob(&pods[2], 2*time.Minute)
		controller.startJob(t, job)
		controller.awaitRefusal(t, job)
		if err := controller.Delete(t.Context(), job); err != nil {
			t.Fatal(err)
		}
		released(t, job)
	})
	t.Run("a user pauses the job and aborts it", func(t *testing.T) {
		job := migrationJob(&pods[1], 2*time.Minute)
		job.Name, job.Spec.Paused = job.Name+"-paused", true
		controller.startJob(t, job)
		controller.awaitJob(t, job, patience, func() error {
			if job.Status.Reason != schedulingv1alpha1.PodMigrationJobReasonPaused {
				return errors.New("the job is not paused")
			}
			return nil
		})
		resumed := job.DeepCopy()
		resumed.Spec.Paused = false
		if err := controller.Patch(t.Context(), resumed, ctrlclient.MergeFrom(job)); err != nil {
			t.Fatal(err)
		}
		controller.awaitRefusal(t, job)
		aborted := job.DeepCopy()
		aborted.Annotations[extension.AnnotationAbortMigration] = "true"
		if err := controller.Patch(t.Context(), aborted, ctrlclient.MergeFrom(job)); err != nil {
			t.Fatal(err)
		}
		controller.awaitEnd(t, job, schedulingv1alpha1.PodMigrationJobAborted, schedulingv1alpha1.PodMigrationJobReasonAbortedByUser)
		released(t, job)
	})
	untouched(t, namespace, pods)
}
