package frameworkext

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/queuesort"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"

	decision "koordinator.sh/koord/decision/scheduling/reservation"
)

// binder answers one attempt after the other from answers, and with success from then on.
type binder struct {
	attempts int
	answers  []error
	// store is called for every attempt, and may store the binding although the attempt fails.
	store func(attempt int)
}

func (*binder) Name() string { return "Binder" }
func (b *binder) Bind(context.Context, fwk.CycleState, *corev1.Pod, string) *fwk.Status {
	b.attempts++
	if b.store != nil {
		b.store(b.attempts)
	}
	if b.attempts <= len(b.answers) {
		return fwk.AsStatus(b.answers[b.attempts-1])
	}
	return nil
}

func wrapBinder(t *testing.T, client *fake.Clientset, plugin *binder) *Framework {
	t.Helper()
	metrics.Register()
	set := func(name string) config.PluginSet {
		return config.PluginSet{Enabled: []config.Plugin{{Name: name}}}
	}
	registry := frameworkruntime.Registry{
		queuesort.Name: queuesort.New,
		"Binder":       func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) { return plugin, nil },
	}
	profile := &config.KubeSchedulerProfile{SchedulerName: "s", Plugins: &config.Plugins{QueueSort: set(queuesort.Name), Bind: set("Binder")}}
	inner, err := frameworkruntime.NewFramework(t.Context(), registry, profile, frameworkruntime.WithClientSet(client))
	if err != nil {
		t.Fatal(err)
	}
	return Wrap(inner, nil, nil)
}

func TestABindingThatIsNotAnsweredIsReadBack(t *testing.T) {
	lost := errors.New("EOF")
	pods := schema.GroupResource{Resource: "pods"}
	conflict := apierrors.NewConflict(pods, "p", errors.New("already assigned"))
	bind := func(node string) func(*corev1.Pod) { return func(pod *corev1.Pod) { pod.Spec.NodeName = node } }
	for name, test := range map[string]struct {
		answers []error
		// arrives is the attempt with which the pod becomes what stored makes of it; 0 is never.
		arrives int
		stored  func(*corev1.Pod)
		// unreadable is how often reading the pod fails.
		unreadable   int
		wantSuccess  bool
		wantAttempts int
	}{
		"an answer is taken for what it says":         {answers: []error{conflict}, wantAttempts: 1},
		"stored, and the answer lost":                 {answers: []error{lost}, arrives: 1, stored: bind("n"), wantSuccess: true, wantAttempts: 1},
		"stored, and given up by the API server":      {answers: []error{apierrors.NewTimeoutError("slow", 1)}, arrives: 1, stored: bind("n"), wantSuccess: true, wantAttempts: 1},
		"stored, and hard to read":                    {answers: []error{lost}, arrives: 1, stored: bind("n"), unreadable: 3, wantSuccess: true, wantAttempts: 1},
		"not stored is sent again":                    {answers: []error{lost}, wantSuccess: true, wantAttempts: 2},
		"arrives late, before what is sent again":     {answers: []error{lost, conflict}, arrives: 2, stored: bind("n"), wantSuccess: true, wantAttempts: 2},
		"another one bound it elsewhere":              {answers: []error{lost}, arrives: 1, stored: bind("other"), wantAttempts: 1},
		"another pod has its name":                    {answers: []error{lost}, arrives: 1, stored: func(pod *corev1.Pod) { pod.UID, pod.Spec.NodeName = "new", "n" }, wantAttempts: 1},
		"refused when it is sent again":               {answers: []error{lost, conflict}, wantAttempts: 2},
		"lost again and again":                        {answers: []error{lost, lost, lost}, wantSuccess: true, wantAttempts: 4},
		"forbidden, as without a lease, is an answer": {answers: []error{apierrors.NewForbidden(pods, "p", lost)}, wantAttempts: 1},
	} {
		t.Run(name, func(t *testing.T) {
			pod := podOf("p")
			client := fake.NewClientset(pod.DeepCopy())
			unreadable := test.unreadable
			client.PrependReactor("get", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
				unreadable--
				return unreadable >= 0, nil, lost
			})
			plugin := &binder{answers: test.answers, store: func(attempt int) {
				if attempt == test.arrives {
					stored := pod.DeepCopy()
					test.stored(stored)
					if err := client.Tracker().Update(corev1.SchemeGroupVersion.WithResource("pods"), stored, pod.Namespace); err != nil {
						t.Error(err)
					}
				}
			}}
			status := wrapBinder(t, client, plugin).RunBindPlugins(t.Context(), framework.NewCycleState(), pod, "n")
			if status.IsSuccess() != test.wantSuccess || plugin.attempts != test.wantAttempts {
				t.Errorf("%d attempts ended with %v, want %d and success %v", plugin.attempts, status, test.wantAttempts, test.wantSuccess)
			}
		})
	}
}

func TestReadingBackEndsWithTheScheduler(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	client := fake.NewClientset()
	client.PrependReactor("get", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		cancel()
		return true, nil, errors.New("connection refused")
	})
	plugin := &binder{answers: []error{errors.New("EOF")}}
	if status := wrapBinder(t, client, plugin).RunBindPlugins(ctx, framework.NewCycleState(), podOf("p"), "n"); status.IsSuccess() {
		t.Error("a binding of unknown outcome is taken for a success")
	}
}

func TestReservePodsAreNotReadBack(t *testing.T) {
	pod := podOf("p")
	pod.UID, pod.Annotations = types.UID(pod.Name), map[string]string{decision.AnnotationReservePod: "true"}
	client, plugin := fake.NewClientset(), &binder{answers: []error{errors.New("EOF")}}
	if status := wrapBinder(t, client, plugin).RunBindPlugins(t.Context(), framework.NewCycleState(), pod, "n"); status.IsSuccess() || plugin.attempts != 1 {
		t.Errorf("%d attempts ended with %v, want a failure", plugin.attempts, status)
	}
	if actions := client.Actions(); len(actions) > 0 {
		t.Errorf("no pod of that name exists, and %v was asked", actions)
	}
}
