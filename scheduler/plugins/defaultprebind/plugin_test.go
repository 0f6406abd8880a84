package defaultprebind

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultbinder"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/queuesort"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
)

// newFramework builds a real framework with the plugin at the extension points given.
func newFramework(t *testing.T, client *fake.Clientset, preBind, bind bool) framework.Framework {
	t.Helper()
	metrics.Register()
	plugins := &config.Plugins{QueueSort: setOf(queuesort.Name), Bind: setOf(defaultbinder.Name)}
	if preBind {
		plugins.PreBind = setOf(Name)
	}
	if bind {
		plugins.Bind = setOf(Name, defaultbinder.Name)
	}
	registry := frameworkruntime.Registry{Name: New, queuesort.Name: queuesort.New, defaultbinder.Name: defaultbinder.New}
	built, err := frameworkruntime.NewFramework(t.Context(), registry, &config.KubeSchedulerProfile{SchedulerName: "s", Plugins: plugins}, frameworkruntime.WithClientSet(client))
	if err != nil {
		t.Fatal(err)
	}
	return built
}

func setOf(names ...string) config.PluginSet {
	set := config.PluginSet{}
	for _, name := range names {
		set.Enabled = append(set.Enabled, config.Plugin{Name: name})
	}
	return set
}

func TestAnnotationsAreWrittenOnce(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p", UID: "u"}}
	annotations := map[string]string{"a": "1", "b": "2"}
	tests := map[string]struct {
		preBind, bind bool
		annotate      bool
		wantPatch     map[string]string
		wantBinding   map[string]string
	}{
		"a plain pod is bound without a patch":                   {preBind: true, bind: true},
		"with the plugin as binder the binding carries them":     {preBind: true, bind: true, annotate: true, wantBinding: annotations},
		"with the plugin for PreBind alone one patch goes ahead": {preBind: true, annotate: true, wantPatch: annotations},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			client := fake.NewClientset(pod)
			built := newFramework(t, client, test.preBind, test.bind)
			state := framework.NewCycleState()
			if test.annotate {
				Annotate(state, "a", "0")
				Annotate(state, "b", "2")
				Annotate(state, "a", "1")
			}
			if status := built.RunPreBindPreFlights(t.Context(), state, pod, "n"); status != nil && !status.IsSkip() && !status.IsSuccess() {
				t.Fatal(status)
			}
			if status := built.RunPreBindPlugins(t.Context(), state, pod, "n"); !status.IsSuccess() {
				t.Fatal(status)
			}
			if status := built.RunBindPlugins(t.Context(), state, pod, "n"); !status.IsSuccess() {
				t.Fatal(status)
			}
			patch, binding, bindings := written(t, client)
			if diff := cmp.Diff(test.wantPatch, patch); diff != "" {
				t.Errorf("patch (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.wantBinding, binding); diff != "" || bindings != 1 {
				t.Errorf("%d bindings, want 1; annotations (-want +got):\n%s", bindings, diff)
			}
		})
	}
}

func written(t *testing.T, client *fake.Clientset) (patch, binding map[string]string, bindings int) {
	t.Helper()
	for _, action := range client.Actions() {
		switch typed := action.(type) {
		case clienttesting.PatchAction:
			if patch != nil {
				t.Error("more than one patch")
			}
			var object metav1.PartialObjectMetadata
			if err := json.Unmarshal(typed.GetPatch(), &object); err != nil || object.UID != "u" {
				t.Errorf("patch %s: error %v", typed.GetPatch(), err)
			}
			patch = object.Annotations
		case clienttesting.CreateAction:
			bindings++
			binding = typed.GetObject().(*corev1.Binding).Annotations
		}
	}
	return patch, binding, bindings
}

func TestClonedStatesAreIndependent(t *testing.T) {
	state := framework.NewCycleState()
	Annotate(state, "a", "1")
	cloned := state.Clone()
	Annotate(cloned, "a", "2")
	if got := Annotations(state); got["a"] != "1" {
		t.Errorf("annotations %v of the original changed with the clone", got)
	}
}

func TestBindingErrorsAreReported(t *testing.T) {
	client := fake.NewClientset()
	client.PrependReactor("create", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, errors.New("the pod is being deleted")
	})
	built := newFramework(t, client, true, true)
	state := framework.NewCycleState()
	Annotate(state, "a", "1")
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p"}}
	if status := built.RunBindPlugins(t.Context(), state, pod, "n"); status.Code() != fwk.Error {
		t.Errorf("status %v, want an error", status)
	}
}
