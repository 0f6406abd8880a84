package integration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	analysisv1alpha1 "koordinator.sh/koord/api/analysis/v1alpha1"
	"koordinator.sh/koord/decision/noderesource/recommend"
	"koordinator.sh/koord/test/freeport"
	"koordinator.sh/koord/test/sandboxtest"
)

var recommendationResource = schema.GroupVersionResource{Group: "analysis.koordinator.sh", Version: "v1alpha1", Resource: "recommendations"}

// advisedNamespace is a namespace of the test's own with a Deployment of so many pods, each of 2 cores and 1 GiB.
func advisedNamespace(t *testing.T, name string, replicas int32) {
	t.Helper()
	_, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.CoreV1().Namespaces().Delete(context.Background(), name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	labels := map[string]string{"app": "advised"}
	_, err = client.AppsV1().Deployments(name).Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "advised"},
		Spec: appsv1.DeploymentSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec: corev1.PodSpec{SchedulerName: "koord-scheduler", Containers: []corev1.Container{{Name: "main", Image: "registry.k8s.io/pause:3.10",
				Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
					corev1.ResourceCPU: resource.MustParse("2"), corev1.ResourceMemory: resource.MustParse("1Gi"),
				}}}}},
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

// applyRecommendation applies a Recommendation as a user would.
func applyRecommendation(t *testing.T, namespace, annotations, target string) {
	t.Helper()
	object := &unstructured.Unstructured{}
	text := fmt.Sprintf(`{"apiVersion": "analysis.koordinator.sh/v1alpha1", "kind": "Recommendation",
		"metadata": {"name": "advised", "namespace": %q, "annotations": {%s}}, "spec": {"target": %s}}`, namespace, annotations, target)
	if err := json.Unmarshal([]byte(text), &object.Object); err != nil {
		t.Fatal(err)
	}
	if _, err := dynamicClient.Resource(recommendationResource).Namespace(namespace).Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func readRecommendation(ctx context.Context, namespace string) (*analysisv1alpha1.Recommendation, error) {
	object, err := dynamicClient.Resource(recommendationResource).Namespace(namespace).Get(ctx, "advised", metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	out := &analysisv1alpha1.Recommendation{}
	return out, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, out)
}

const deploymentTarget = `{"type": "workload", "workload": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "advised"}}`

func TestADeploymentGetsARecommendation(t *testing.T) {
	const namespace = "it-advised"
	advisedNamespace(t, namespace, 2)
	applyRecommendation(t, namespace, "", deploymentTarget)
	sandboxtest.Eventually(t, 4*time.Minute, func() error {
		recommendation, err := readRecommendation(t.Context(), namespace)
		if err != nil {
			return err
		}
		status := &recommendation.Status
		if status.PodStatus == nil || len(status.PodStatus.ContainerStatuses) != 1 {
			return fmt.Errorf("nothing is recommended yet: %+v", status.Conditions)
		}
		container := status.PodStatus.ContainerStatuses[0]
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			lower, target, upper := container.LowerBound[name], container.Resources[name], container.UpperBound[name]
			if lower.Sign() <= 0 || lower.Cmp(target) > 0 || target.Cmp(upper) > 0 {
				t.Errorf("%s: lower %v, target %v, upper %v", name, &lower, &target, &upper)
			}
		}
		if !meta.IsStatusConditionTrue(status.Conditions, analysisv1alpha1.RecommendationConditionLowConfidence) {
			t.Errorf("conditions %+v do not tell that there are few samples", status.Conditions)
		}
		if !meta.IsStatusConditionFalse(status.Conditions, analysisv1alpha1.RecommendationConditionNoObjectsMatched) {
			t.Errorf("conditions %+v do not tell that pods were matched", status.Conditions)
		}
		return nil
	})
}

func TestATargetWithoutPodsIsToldOf(t *testing.T) {
	const namespace = "it-unadvised"
	advisedNamespace(t, namespace, 0)
	applyRecommendation(t, namespace, "", `{"type": "podSelector", "podSelector": {"matchLabels": {"app": "nobody"}}}`)
	sandboxtest.Eventually(t, 2*time.Minute, func() error {
		recommendation, err := readRecommendation(t.Context(), namespace)
		if err != nil {
			return err
		}
		if !meta.IsStatusConditionTrue(recommendation.Status.Conditions, analysisv1alpha1.RecommendationConditionNoObjectsMatched) {
			return fmt.Errorf("conditions %+v do not tell that no pod was matched", recommendation.Status.Conditions)
		}
		return nil
	})
}

// standInManager takes the place of the sandbox's manager, which is paused, with other flags.
func standInManager(t *testing.T, flags ...string) {
	t.Helper()
	pause(t, "koord-manager")
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(shared.Program("koord-manager"), append([]string{
		"--kubeconfig=" + filepath.Join(shared.Directory(), "kubeconfig"), "--metrics-bind-address=0", "--health-probe-bind-address=0",
		"--webhook-port=0", "--diagnostics-bind-address=127.0.0.1", fmt.Sprintf("--diagnostics-port=%d", freeport.Next(t)),
	}, flags...)...)
	command.Stdout, command.Stderr = log, log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := command.Process.Signal(syscall.SIGTERM); err != nil {
			t.Errorf("end the manager: %v", err)
		}
		var exit *exec.ExitError
		if err := command.Wait(); err != nil && !errors.As(err, &exit) {
			t.Errorf("wait for the manager: %v", err)
		}
		if t.Failed() {
			data, _ := os.ReadFile(log.Name())
			t.Logf("the log of the manager:\n%s", data[max(len(data)-5000, 0):])
		}
		_ = log.Close() // written by others
	})
}

// learned gives a Recommendation the checkpoint of two days in which its containers used next to no CPU and 3 GiB.
func learned(t *testing.T, namespace string) {
	t.Helper()
	container, now := recommend.NewContainer(), time.Now()
	for minute := range 2 * 24 * 60 {
		container.AddUsage(now.Add(time.Duration(minute-2*24*60)*time.Minute), 0.1, 3<<30, time.Minute)
	}
	checkpoint, err := container.Checkpoint("main")
	if err != nil {
		t.Fatal(err)
	}
	recommendation, err := readRecommendation(t.Context(), namespace)
	if err != nil {
		t.Fatal(err)
	}
	patch, err := json.Marshal(map[string]any{"status": analysisv1alpha1.RecommendationStatus{Checkpoint: &analysisv1alpha1.RecommendationCheckpoint{
		ObservedGeneration: recommendation.Generation, Containers: []analysisv1alpha1.ContainerCheckpoint{checkpoint},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = dynamicClient.Resource(recommendationResource).Namespace(namespace).Patch(t.Context(), "advised", types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	if err != nil {
		t.Fatal(err)
	}
}

func TestPodsAreResizedInPlaceWithinTheBudget(t *testing.T) {
	const namespace = "it-resized"
	advisedNamespace(t, namespace, 3)
	var before map[types.UID]string
	sandboxtest.Eventually(t, time.Minute, func() error {
		var err error
		before, err = memoryOfPods(t.Context(), namespace)
		if err == nil && len(before) != 3 {
			err = fmt.Errorf("%d pods run, want 3", len(before))
		}
		return err
	})
	resizable(t, namespace)
	annotation := `"analysis.koordinator.sh/apply": "in-place"`
	// The sandbox's own manager is paused before it can learn anything about the target.
	standInManager(t, "--recommender-apply", "--leader-elect=true")
	applyRecommendation(t, namespace, annotation, deploymentTarget)
	learned(t, namespace)
	resized := func() (int, error) {
		now, err := memoryOfPods(t.Context(), namespace)
		n := 0
		for uid, memory := range now {
			if _, same := before[uid]; !same {
				t.Errorf("pod %s is a new one, want those of before", uid)
			}
			if quantity := resource.MustParse(memory); quantity.Value() > 3<<30 && quantity.Value() < 4<<30 {
				n++
			} else if memory != before[uid] {
				t.Errorf("pod %s has %s of memory, had %s", uid, memory, before[uid])
			}
		}
		return n, err
	}
	sandboxtest.Eventually(t, 3*time.Minute, func() error {
		n, err := resized()
		if err == nil && n == 0 {
			err = errors.New("no pod is resized yet")
		}
		return err
	})
	recommendation, err := readRecommendation(t.Context(), namespace)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(recommendation.Status.Checkpoint.Applied); got != 1 {
		t.Errorf("the status tells of %d resizes, want 1", got)
	}
	if n, err := resized(); err != nil || n != 1 {
		t.Errorf("%d pods of three are resized (%v), want the budget of 1", n, err)
	}
}

// resizable reports the resources of the containers of running pods, as kubelets do that can resize them; simulated ones
// do not.
func resizable(t *testing.T, namespace string) {
	t.Helper()
	pods, err := client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		for j := range pod.Status.ContainerStatuses {
			pod.Status.ContainerStatuses[j].Resources = pod.Spec.Containers[j].Resources.DeepCopy()
		}
		if _, err := client.CoreV1().Pods(namespace).UpdateStatus(t.Context(), pod, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// memoryOfPods is what each running pod requests.
func memoryOfPods(ctx context.Context, namespace string) (map[types.UID]string, error) {
	pods, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{FieldSelector: "status.phase=Running"})
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, err
	}
	out := map[types.UID]string{}
	for i := range pods.Items {
		out[pods.Items[i].UID] = pods.Items[i].Spec.Containers[0].Resources.Requests.Memory().String()
	}
	return out, nil
}
