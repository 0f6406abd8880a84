package colocationprofile

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	configv1alpha1 "koordinator.sh/koord/api/config/v1alpha1"
)

var start = time.Date(2030, time.January, 1, 0, 0, 0, 0, time.UTC)

// rig is a reconciler on a fake cluster that counts patches.
type rig struct {
	*reconciler
	clock   *clienttesting.FakeClock
	patches int
	refuse  error
}

func newRig(t *testing.T, objects ...client.Object) *rig {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, configv1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	r := &rig{clock: clienttesting.NewFakeClock(start)}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			r.patches++
			if r.refuse != nil {
				return r.refuse
			}
			return c.Patch(ctx, object, patch, options...)
		},
	}).Build()
	r.reconciler = newReconciler(c, []string{"kube-system"}, r.clock)
	return r
}

func (r *rig) run(t *testing.T) error {
	t.Helper()
	result, err := r.Reconcile(t.Context(), reconcile.Request{})
	if err == nil && result.RequeueAfter != interval {
		t.Errorf("looks again after %s, want %s", result.RequeueAfter, interval)
	}
	return err
}

func (r *rig) labels(t *testing.T, namespace, name string) map[string]string {
	t.Helper()
	var pod corev1.Pod
	if err := r.client.Get(t.Context(), types.NamespacedName{Namespace: namespace, Name: name}, &pod); err != nil {
		t.Fatal(err)
	}
	return pod.Labels
}

func pod(namespace, name string, labels map[string]string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(namespace + name), Labels: labels}}
}

func namespace(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"name": name}}}
}

func profile(managed string) *configv1alpha1.ClusterColocationProfile {
	p := &configv1alpha1.ClusterColocationProfile{ObjectMeta: metav1.ObjectMeta{Name: "p", Labels: map[string]string{"config.koordinator.sh/controller-managed": managed}}}
	p.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	p.Spec.Labels = map[string]string{"x": "1"}
	return p
}

func TestSelectedPodsAreBroughtInLine(t *testing.T) {
	web := map[string]string{"app": "web"}
	tests := map[string]struct {
		managed     string
		pod         *corev1.Pod
		want        map[string]string
		wantPatches int
	}{
		"a selected pod":              {managed: "true", pod: pod("default", "a", web), want: map[string]string{"app": "web", "x": "1"}, wantPatches: 1},
		"a pod that is in line":       {managed: "true", pod: pod("default", "a", map[string]string{"app": "web", "x": "1"}), want: map[string]string{"app": "web", "x": "1"}},
		"a pod of another app":        {managed: "true", pod: pod("default", "a", map[string]string{"app": "db"}), want: map[string]string{"app": "db"}},
		"a pod of kube-system":        {managed: "true", pod: pod("kube-system", "a", web), want: web},
		"a profile for new pods only": {managed: "false", pod: pod("default", "a", web), want: web},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, namespace("default"), namespace("kube-system"), profile(test.managed), test.pod)
			for range 2 {
				if err := r.run(t); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(test.want, r.labels(t, test.pod.Namespace, "a")); diff != "" {
				t.Errorf("labels (-want +got):\n%s", diff)
			}
			if r.patches != test.wantPatches {
				t.Errorf("%d patches, want %d", r.patches, test.wantPatches)
			}
		})
	}
}

func TestSomebodyWhoUndoesALabelIsNotFoughtWith(t *testing.T) {
	r := newRig(t, namespace("default"), profile("true"), pod("default", "a", map[string]string{"app": "web"}))
	undo := func() {
		if err := r.client.Update(t.Context(), pod("default", "a", map[string]string{"app": "web"})); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		after       time.Duration
		wantPatches int
	}{{0, 1}, {interval, 1}, {forceInterval - interval, 2}, {remember + time.Second, 3}} {
		r.clock.Step(step.after)
		if err := r.run(t); err != nil {
			t.Fatal(err)
		}
		if r.patches != step.wantPatches {
			t.Errorf("after %s: %d patches, want %d", step.after, r.patches, step.wantPatches)
		}
		undo()
	}
	r.clock.Step(remember + time.Second)
	r.forget()
	if len(r.sent) != 0 {
		t.Errorf("%d patches are remembered for ever", len(r.sent))
	}
}

func TestOneRefusedPodDoesNotStopTheOthers(t *testing.T) {
	r := newRig(t, namespace("default"), profile("true"), pod("default", "a", map[string]string{"app": "web"}), pod("default", "b", map[string]string{"app": "web"}))
	r.refuse = apierrors.NewForbidden(corev1.Resource("pods"), "a", nil)
	if err := r.run(t); err == nil || r.patches != 2 {
		t.Errorf("%d patches and error %v, want 2 and the refusals", r.patches, err)
	}
	r.refuse = apierrors.NewNotFound(corev1.Resource("pods"), "a")
	r.clock.Step(forceInterval)
	if err := r.run(t); err != nil {
		t.Errorf("pods that are gone are an error: %v", err)
	}
}

func TestOnlyRefusalsThatPassAreRetriedAtOnce(t *testing.T) {
	pods := corev1.Resource("pods")
	tests := map[string]struct {
		refuse    error
		wantRetry bool
	}{
		"an error of the API server":     {refuse: apierrors.NewInternalError(errors.New("etcd is compacting")), wantRetry: true},
		"too many requests":              {refuse: apierrors.NewTooManyRequests("later", 1), wantRetry: true},
		"a timeout":                      {refuse: apierrors.NewServerTimeout(pods, "patch", 1), wantRetry: true},
		"a connection that broke":        {refuse: io.ErrUnexpectedEOF, wantRetry: true},
		"a role that does not allow it":  {refuse: apierrors.NewForbidden(pods, "a", nil)},
		"a label that is not one at all": {refuse: apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "a", nil)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, namespace("default"), profile("true"), pod("default", "a", map[string]string{"app": "web"}))
			r.refuse = test.refuse
			if err := r.run(t); err == nil {
				t.Error("the refusal is no error")
			}
			r.refuse = nil
			r.clock.Step(time.Second)
			if err := r.run(t); err != nil {
				t.Fatal(err)
			}
			if retried := r.patches == 2; retried != test.wantRetry {
				t.Errorf("a second later the patch is sent again: %t, want %t", retried, test.wantRetry)
			}
			if changed := r.labels(t, "default", "a")["x"] == "1"; changed != test.wantRetry {
				t.Errorf("the pod is in line: %t, want %t", changed, test.wantRetry)
			}
		})
	}
}
