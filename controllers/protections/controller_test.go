package protections

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"koordinator.sh/koord/decision/admission/protection"
)

const (
	namespace = "koordinator-system"
	name      = "koordinator-allocations"
	spec      = `{"policyName":"koordinator-allocations","validationActions":["Deny"]}`
)

func binding(action string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "admissionregistration.k8s.io/v1", "kind": protection.Binding, "metadata": map[string]any{"name": name},
		"spec": map[string]any{"policyName": name, "validationActions": []any{action}},
	}}
}

func config(data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: protection.ConfigMapName}, Data: data}
}

// TestTheGuardTells when something is wrong twice in a row, once, and when it is right again.
func TestTheGuardTells(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	var refused error
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(config(map[string]string{protection.Binding + "." + name: spec}), binding("Deny")).
		WithInterceptorFuncs(interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if _, is := object.(*unstructured.Unstructured); is && refused != nil {
				return refused
			}
			return c.Get(ctx, key, object, options...)
		}}).Build()
	recorder := events.NewFakeRecorder(10)
	g := &controller{reader: c, recorder: recorder, clock: clocktesting.NewFakeClock(metav1.Now().Time), namespace: namespace, seen: map[string]string{}, reported: map[string]string{}, unreadable: map[string]bool{}}
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "validatingadmissionpolicybindings"}, name, errors.New("no right"))
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	replace := func(with *unstructured.Unstructured) {
		must(client.IgnoreNotFound(c.Delete(t.Context(), binding("Deny"))))
		if with != nil {
			must(c.Create(t.Context(), with))
		}
	}
	const rest = `. Without it anyone who may edit a pod can claim CPUs, devices and reservations, and use up the eviction budget of its node, by annotations. Chart value admission.protectAllocations disables it`
	const again = `Normal ProtectionRestored ValidatingAdmissionPolicyBinding "koordinator-allocations" is restored`
	steps := []struct {
		name          string
		change        func()
		want          []string
		wantM, wantW  float64
		wantNoMetrics bool
	}{
		{name: "as installed", change: func() {}},
		{name: "deleted", change: func() { replace(nil) }, wantM: 1,
			want: []string{`Warning ProtectionMissing [KOORD0303] ValidatingAdmissionPolicyBinding "koordinator-allocations" does not exist` + rest}},
		{name: "still deleted", change: func() {}, wantM: 1},
		{name: "made anew, but to audit", change: func() { replace(binding("Audit")) }, wantW: 1,
			want: []string{`Warning ProtectionWeakened [KOORD0304] ValidatingAdmissionPolicyBinding "koordinator-allocations" was changed after it was installed: spec.validationActions[0] is Audit instead of Deny` + rest}},
		{name: "put back", change: func() { replace(binding("Deny")) }, want: []string{again}},
		{name: "not allowed to look", change: func() { refused = forbidden }, wantNoMetrics: true},
		{name: "allowed again", change: func() { refused = nil }},
		{name: "turned off by the values", change: func() { must(c.Update(t.Context(), config(nil))); replace(nil) }, wantNoMetrics: true},
	}
	for _, step := range steps {
		step.change()
		g.check(t.Context())
		if len(recorder.Events) > 0 {
			t.Errorf("%s: told at the first look: %s", step.name, <-recorder.Events)
		}
		g.check(t.Context())
		g.check(t.Context())
		var got []string
		for len(recorder.Events) > 0 {
			got = append(got, <-recorder.Events)
		}
		if diff := cmp.Diff(step.want, got); diff != "" {
			t.Errorf("%s: events (-want +got):\n%s", step.name, diff)
		}
		if count := testutil.CollectAndCount(missing) + testutil.CollectAndCount(weakened); (count == 0) != step.wantNoMetrics {
			t.Errorf("%s: %d series", step.name, count)
		}
		if step.wantNoMetrics {
			continue
		}
		if m, w := testutil.ToFloat64(missing.WithLabelValues(protection.Binding, name)), testutil.ToFloat64(weakened.WithLabelValues(protection.Binding, name)); m != step.wantM || w != step.wantW {
			t.Errorf("%s: missing %g, weakened %g, want %g, %g", step.name, m, w, step.wantM, step.wantW)
		}
	}
}
