package component

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/kwok/pkg/apis/internalversion"
	"sigs.k8s.io/kwok/pkg/apis/v1alpha1"
	"sigs.k8s.io/kwok/pkg/utils/gotpl"
	"sigs.k8s.io/kwok/pkg/utils/lifecycle"
	"sigs.k8s.io/yaml"

	"koordinator.sh/koord/sandbox/state"
)

func TestKwokConfigHoldsTheStagesOfALife(t *testing.T) {
	var got []string
	for _, stage := range stages(t) {
		got = append(got, stage.Spec.ResourceRef.Kind+" "+stage.Name)
	}
	want := []string{
		"Node node-initialize", "Node node-heartbeat-with-lease",
		"Pod pod-ready", "Pod pod-delete", "Pod pod-complete-after-run-seconds",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("stages (-want +got):\n%s", diff)
	}
}

// TestTheLifeOfAPod asks kwok's own engine what comes next for a pod.
func TestTheLifeOfAPod(t *testing.T) {
	var ofPods []*internalversion.Stage
	for _, stage := range stages(t) {
		if stage.Spec.ResourceRef.Kind == "Pod" {
			ofPods = append(ofPods, stage)
		}
	}
	life, err := lifecycle.NewLifecycle(ofPods)
	if err != nil {
		t.Fatal(err)
	}
	job := []metav1.OwnerReference{{Kind: "Job", Name: "spark-pi-exec"}}
	for name, tc := range map[string]struct {
		pod       corev1.Pod
		want      string
		wantDelay time.Duration
	}{
		"a new pod becomes ready": {
			pod:  corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodPending}},
			want: "pod-ready",
		},
		"a service's pod runs on": {
			pod: corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodRunning}},
		},
		"a job's pod runs on too, where it says no time": {
			pod: corev1.Pod{ObjectMeta: metav1.ObjectMeta{OwnerReferences: job}, Status: corev1.PodStatus{Phase: corev1.PodRunning}},
		},
		"a job's pod succeeds after the time it says": {
			pod: corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{OwnerReferences: job, Annotations: map[string]string{RunSecondsAnnotation: "600"}},
				Status:     corev1.PodStatus{Phase: corev1.PodRunning},
			},
			want: "pod-complete-after-run-seconds", wantDelay: 10 * time.Minute,
		},
		"a pod that has succeeded stays": {
			pod: corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{RunSecondsAnnotation: "600"}},
				Status:     corev1.PodStatus{Phase: corev1.PodSucceeded},
			},
		},
		"a deleted pod goes": {
			pod: corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{
					Annotations:       map[string]string{RunSecondsAnnotation: "600"},
					DeletionTimestamp: &metav1.Time{Time: time.Unix(1, 0)},
				},
				Status: corev1.PodStatus{Phase: corev1.PodRunning},
			},
			want: "pod-delete",
		},
	} {
		t.Run(name, func(t *testing.T) {
			event := &lifecycle.Event{Labels: tc.pod.Labels, Annotations: tc.pod.Annotations, Data: &tc.pod}
			stage, err := life.Match(t.Context(), event)
			if err != nil {
				t.Fatal(err)
			}
			var got string
			var delay time.Duration
			if stage != nil {
				got = stage.Name()
				if delay, _, err = stage.Delay(t.Context(), event, time.Unix(1, 0)); err != nil {
					t.Fatal(err)
				}
			}
			if got != tc.want || delay != tc.wantDelay {
				t.Errorf("next stage = %q after %s; want %q after %s", got, delay, tc.want, tc.wantDelay)
			}
		})
	}
}

func TestAPodThatCompletesSaysSo(t *testing.T) {
	all := stages(t)
	stage := lifecycle.NewStage(all[len(all)-1])
	life, err := lifecycle.NewLifecycle(all[len(all)-1:])
	if err != nil || stage == nil {
		t.Fatalf("the stage cannot be used: %v", err)
	}
	started := metav1.NewTime(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{RunSecondsAnnotation: "600"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "sandbox.invalid/spark"}}},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning, StartTime: &started},
	}
	matched, err := life.Match(t.Context(), &lifecycle.Event{Annotations: pod.Annotations, Data: pod})
	if err != nil || matched == nil {
		t.Fatalf("Match() = %v, %v", matched, err)
	}
	renderer := gotpl.NewRenderer(gotpl.FuncMap{"Now": func() string { return "2026-03-01T12:10:00Z" }})
	var patched struct {
		Status corev1.PodStatus `json:"status"`
	}
	_, err = matched.DoSteps(0, nil, pod, renderer,
		func(*internalversion.StageEvent) error { return nil },
		func() error { t.Error("the pod is deleted"); return nil },
		func(patch *lifecycle.Patch) error { return json.Unmarshal(patch.Data, &patched) },
		func(*lifecycle.Apply) error { t.Error("something is applied"); return nil },
	)
	if err != nil {
		t.Fatal(err)
	}
	ended := started.Add(10 * time.Minute)
	want := corev1.PodStatus{Phase: corev1.PodSucceeded, ContainerStatuses: []corev1.ContainerStatus{{
		Name: "main", Image: "sandbox.invalid/spark", Started: new(bool),
		State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			Reason: "Completed", StartedAt: started, FinishedAt: metav1.NewTime(ended),
		}},
	}}}
	if diff := cmp.Diff(want, patched.Status); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
}

func TestKwokConfigThatCannotBeWritten(t *testing.T) {
	if err := WriteKwokConfig(state.At(filepath.Join(t.TempDir(), "missing"))); err == nil {
		t.Error("WriteKwokConfig() = nil; want an error")
	}
}

// stages reads what WriteKwokConfig writes, strictly.
func stages(t *testing.T) []*internalversion.Stage {
	t.Helper()
	dir := state.Open(t.TempDir(), "demo")
	if err := dir.Create(); err != nil {
		t.Fatal(err)
	}
	if err := WriteKwokConfig(dir); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir.Config(), "kwok.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var all []*internalversion.Stage
	for document := range strings.SplitSeq(string(data), "\n---\n") {
		var stage v1alpha1.Stage
		if err := yaml.UnmarshalStrict([]byte(document), &stage); err != nil {
			t.Fatalf("parse:\n%s\n%v", document, err)
		}
		if stage.APIVersion != "kwok.x-k8s.io/v1alpha1" || stage.Kind != "Stage" {
			t.Errorf("a document is a %s %s; want a stage", stage.APIVersion, stage.Kind)
		}
		internal, err := internalversion.ConvertToInternalStage(&stage)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, internal)
	}
	return all
}
