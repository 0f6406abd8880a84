package defaultprebind

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"koordinator.sh/koord/api/extension"
)

// bindWith runs a pod from PreBind on and returns the metadata of the patch and the annotations of the Binding.
func bindWith(t *testing.T, preBind, bind bool, pod *corev1.Pod, ask func(fwk.CycleState)) (patch map[string]any, binding map[string]string) {
	t.Helper()
	client := fake.NewClientset(pod)
	built := newFramework(t, client, preBind, bind)
	state := framework.NewCycleState()
	ask(state)
	if status := built.RunPreBindPreFlights(t.Context(), state, pod, "n"); !status.IsSkip() && !status.IsSuccess() {
		t.Fatal(status)
	}
	if status := built.RunPreBindPlugins(t.Context(), state, pod, "n"); !status.IsSuccess() {
		t.Fatal(status)
	}
	if status := built.RunBindPlugins(t.Context(), state, pod, "n"); !status.IsSuccess() {
		t.Fatal(status)
	}
	for _, action := range client.Actions() {
		switch typed := action.(type) {
		case clienttesting.PatchAction:
			var content map[string]map[string]any
			if err := json.Unmarshal(typed.GetPatch(), &content); err != nil || content["metadata"]["uid"] != "u" {
				t.Fatalf("patch %s: error %v", typed.GetPatch(), err)
			}
			patch = content["metadata"]
			delete(patch, "uid")
		case clienttesting.CreateAction:
			binding = typed.GetObject().(*corev1.Binding).Annotations
		}
	}
	return patch, binding
}

func TestPretendedAllocationsAreNotBound(t *testing.T) {
	pretending := map[string]string{
		extension.AnnotationDeviceAllocated: `{"gpu":[{"minor":0}]}`, extension.AnnotationResourceStatus: `{"cpuset":"0-7"}`, "note": "mine",
	}
	tests := map[string]struct {
		bind, decide bool
		wantPatch    map[string]any
		wantBinding  map[string]string
	}{
		"the Binding empties what nobody decided": {
			bind: true, wantBinding: map[string]string{extension.AnnotationDeviceAllocated: "{}", extension.AnnotationResourceStatus: "{}"},
		},
		"what was decided replaces what was pretended": {
			bind: true, decide: true, wantBinding: map[string]string{extension.AnnotationDeviceAllocated: "{}", extension.AnnotationResourceStatus: `{"cpuset":"2-3"}`},
		},
		"a patch removes it": {
			wantPatch: map[string]any{"annotations": map[string]any{extension.AnnotationDeviceAllocated: nil, extension.AnnotationResourceStatus: nil}},
		},
		"a patch removes one and replaces the other": {
			decide: true, wantPatch: map[string]any{"annotations": map[string]any{extension.AnnotationDeviceAllocated: nil, extension.AnnotationResourceStatus: `{"cpuset":"2-3"}`}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p", UID: "u", Annotations: pretending}}
			patch, binding := bindWith(t, true, test.bind, pod, func(state fwk.CycleState) {
				if test.decide {
					Annotate(state, extension.AnnotationResourceStatus, `{"cpuset":"2-3"}`)
				}
			})
			if diff := cmp.Diff(test.wantPatch, patch); diff != "" {
				t.Errorf("patch (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.wantBinding, binding); diff != "" {
				t.Errorf("annotations of the Binding (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLabelsGoAheadOfTheBinding(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p", UID: "u"}}
	ask := func(state fwk.CycleState) {
		Annotate(state, "a", "1")
		Label(state, "l", "n")
	}
	patch, binding := bindWith(t, true, true, pod, ask)
	if diff := cmp.Diff(map[string]any{"labels": map[string]any{"l": "n"}}, patch); diff != "" {
		t.Errorf("patch (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"a": "1"}, binding); diff != "" {
		t.Errorf("annotations of the Binding (-want +got):\n%s", diff)
	}
	patch, binding = bindWith(t, true, false, pod, ask)
	want := map[string]any{"labels": map[string]any{"l": "n"}, "annotations": map[string]any{"a": "1"}}
	if diff := cmp.Diff(want, patch); diff != "" || binding != nil {
		t.Errorf("binding with %v; patch (-want +got):\n%s", binding, diff)
	}
}

func TestStampsSayWhenTheyAreWritten(t *testing.T) {
	state := framework.NewCycleState()
	Annotate(state, "a", "1")
	Stamp(state, "a")
	Stamp(state, "b")
	Annotate(state, "b", "2")
	pod := &corev1.Pod{}
	for _, at := range []int64{7, 8} {
		want := map[string]string{"a": map[int64]string{7: "7", 8: "8"}[at], "b": "2"}
		if diff := cmp.Diff(want, toWrite(state.Clone(), pod, time.Unix(0, at))); diff != "" {
			t.Errorf("at %d (-want +got):\n%s", at, diff)
		}
	}
	if diff := cmp.Diff(map[string]string{"b": "2"}, Annotations(state)); diff != "" {
		t.Errorf("apart from stamps (-want +got):\n%s", diff)
	}
}
