package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/test/sandboxtest"
)

const jobManifest = `apiVersion: v1
kind: Pod
metadata: {name: next, namespace: %s, annotations: {koordinator.sh/job-application: nightly, koordinator.sh/job-queue: reports}}
spec: {containers: [{name: main, image: "registry.k8s.io/pause:3.10"}]}
`

// TestEndedJobsAreForecast: koord-manager learns from pods that end, and koordctl forecasts the next one of their kind, and when the quota of one
// that waits has room.
func TestEndedJobsAreForecast(t *testing.T) {
	const namespace, runs = "it-jobs", 4
	_, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.CoreV1().Namespaces().Delete(context.Background(), namespace, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	for i := range runs {
		runJob(t, namespace, fmt.Sprintf("nightly-%d", i))
	}
	manifest := filepath.Join(t.TempDir(), "next.yaml")
	if err := os.WriteFile(manifest, fmt.Appendf(nil, jobManifest, namespace), 0o600); err != nil {
		t.Fatal(err)
	}
	sandboxtest.Eventually(t, 4*time.Minute, func() error {
		got, err := shared.Koordctl(t.Context(), "forecast", "job", "-f", manifest, "-o", "json")
		if err != nil {
			return err
		}
		var answer struct {
			Estimates []struct {
				Metric string
				Point  float64
				Runs   int
			}
		}
		if err := json.Unmarshal([]byte(got.Stdout), &answer); err != nil {
			return fmt.Errorf("%w: %s", err, got.Stderr)
		}
		for _, estimate := range answer.Estimates {
			if estimate.Metric == "duration" && estimate.Runs == runs && estimate.Point > 595 && estimate.Point < 605 {
				return nil
			}
		}
		return fmt.Errorf("the forecast is %+v, want 10 minutes by %d runs", answer.Estimates, runs)
	})
	waitForQuota(t, namespace)
	awaitPrediction(t, namespace, runs)
	evictTheOneThatLosesLess(t, namespace)
}

// awaitPrediction waits until pods of the kind are created with what is known of it, and others without, whatever they bring.
func awaitPrediction(t *testing.T, namespace string, runs uint32) {
	t.Helper()
	created := func(application string) (*extension.JobPrediction, error) {
		pod := nightly("next", "1")
		pod.Annotations[extension.AnnotationJobApplication], pod.Annotations[extension.AnnotationJobPrediction] = application, `{"duration":{"likelySeconds":1}}`
		pod, err := client.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil {
			return nil, err
		}
		return extension.GetJobPrediction(pod.Annotations)
	}
	sandboxtest.Eventually(t, 4*time.Minute, func() error {
		got, err := created("nightly")
		if err != nil || got == nil || got.Duration == nil || got.Duration.Runs < runs || got.Duration.LikelySeconds < 590 || got.Duration.LikelySeconds > 610 {
			return fmt.Errorf("the pod is created with prediction %+v, error %w; want 10 minutes by %d runs", got, err, runs)
		}
		return nil
	})
	if got, err := created("unheard-of"); got != nil || err != nil {
		t.Errorf("a job that has never run is created with prediction %+v, error %v", got, err)
	}
}

// evictTheOneThatLosesLess has koordlet's code choose between two jobs of the same size, of which one is nearly done.
func evictTheOneThatLosesLess(t *testing.T, namespace string) {
	t.Helper()
	job := func(pod *corev1.Pod) { pod.Annotations = nightly("", "1").Annotations }
	far, begun := bestEffort(t, namespace, "a-far", agentNode, job), bestEffort(t, namespace, "b-begun", agentNode, job)
	ago := metav1.NewTime(time.Now().Add(-9 * time.Minute))
	far.Status.StartTime = &ago
	for i := range far.Status.ContainerStatuses {
		far.Status.ContainerStatuses[i].State.Running = &corev1.ContainerStateRunning{StartedAt: ago}
	}
	agent := startEvicting(t, agentOf(t, namespace, agentNode, map[string]any{}), false, far, begun)
	agent.read(85)
	if entry := agent.entry(t, 0); entry.New != "evicted" || entry.Error != "" {
		t.Errorf("entry %+v, want an eviction", entry)
	}
	awaitGone(t, begun)
	wantStays(t, far)
}

// waitForQuota has a run hold all of a quota, for which another one waits: that starts ten minutes after the first.
func waitForQuota(t *testing.T, namespace string) {
	t.Helper()
	elastic(t, namespace, "nightly", extension.RootQuotaName, "1", "1")
	t.Cleanup(func() { abolish(t, namespace) })
	for _, name := range []string{"holds", "waits"} {
		pod := nightly(name, "1")
		pod.Labels = map[string]string{extension.LabelQuotaName: "nightly"}
		pod.Namespace = namespace
		mustSubmit(t, pod)
		if name == "holds" {
			runningSince(t, namespace, name)
		}
	}
	sandboxtest.Eventually(t, patience, func() error { return refusedWith(t, namespace, "waits", "KOORD1201") })
	started := runningSince(t, namespace, "holds")
	var answer struct {
		Starts struct{ Low, Point, High time.Time }
		Ends   struct{ Point time.Time }
	}
	if err := json.Unmarshal([]byte(koordctl(t, 0, "forecast", "job", "waits", "-n", namespace, "-o", "json").Stdout), &answer); err != nil {
		t.Fatal(err)
	}
	about := func(what string, at, want time.Time) {
		if off := at.Sub(want); off < -20*time.Second || off > 20*time.Second {
			t.Errorf("%s is forecast at %s, want about %s", what, at, want)
		}
	}
	about("the start", answer.Starts.Point, started.Add(10*time.Minute))
	about("the end", answer.Ends.Point, started.Add(20*time.Minute))
	if answer.Starts.Low.After(answer.Starts.Point) || answer.Starts.High.Before(answer.Starts.Point) {
		t.Errorf("the interval %s to %s does not contain %s", answer.Starts.Low, answer.Starts.High, answer.Starts.Point)
	}
	brief := koordctl(t, 0, "why", "pod/waits", "-n", namespace).Stdout
	for _, want := range []string{"It has room at ", "when job holds has ended", "koordctl forecast job waits -n " + namespace} {
		if !strings.Contains(brief, want) {
			t.Errorf("why does not say %q:\n%s", want, brief)
		}
	}
	for _, name := range []string{"holds", "waits"} {
		if err := remove(t.Context(), namespace, name); err != nil {
			t.Error(err)
		}
	}
}

// nightly is a pod of a job.
func nightly(name, cpu string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{extension.AnnotationJobApplication: "nightly", extension.AnnotationJobQueue: "reports"}},
		Spec: corev1.PodSpec{SchedulerName: "koord-scheduler", RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{
			Name: "main", Image: "registry.k8s.io/pause:3.10",
			Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}, Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)},
			},
		}}},
	}
}

// runningSince waits until a pod runs, and returns since when.
func runningSince(t *testing.T, namespace, name string) (start time.Time) {
	t.Helper()
	sandboxtest.Eventually(t, patience, func() error {
		pod, err := client.CoreV1().Pods(namespace).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil || pod.Status.Phase != corev1.PodRunning || pod.Status.StartTime == nil {
			return fmt.Errorf("pod %q does not run: %v", name, err)
		}
		start = pod.Status.StartTime.Time
		return nil
	})
	return start
}

// runJob is a pod of a job that completes ten minutes after its start.
func runJob(t *testing.T, namespace, name string) {
	t.Helper()
	if _, err := client.CoreV1().Pods(namespace).Create(t.Context(), nightly(name, "100m"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	start := runningSince(t, namespace, name)
	patch := fmt.Sprintf(`{"status": {"phase": "Succeeded", "containerStatuses": [{"name": "main", "image": "pause", "imageID": "", "ready": false, "restartCount": 0,
		"state": {"terminated": {"exitCode": 0, "reason": "Completed", "startedAt": %q, "finishedAt": %q}}}]}}`,
		start.UTC().Format(time.RFC3339), start.Add(10*time.Minute).UTC().Format(time.RFC3339))
	if _, err := client.CoreV1().Pods(namespace).Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, "status"); err != nil {
		t.Fatal(err)
	}
}
