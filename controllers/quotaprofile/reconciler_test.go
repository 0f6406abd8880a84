package quotaprofile

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"koordinator.sh/koord/api/extension"
	quotav1alpha1 "koordinator.sh/koord/api/quota/v1alpha1"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
)

var (
	profileName = types.NamespacedName{Namespace: "ns", Name: "profile"}
	quotaName   = types.NamespacedName{Namespace: "ns", Name: "root"}
)

func profile() *quotav1alpha1.ElasticQuotaProfile {
	return &quotav1alpha1.ElasticQuotaProfile{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "profile", UID: "u"},
		Spec:       quotav1alpha1.ElasticQuotaProfileSpec{QuotaName: "root", NodeSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"pool": "a"}}},
	}
}

func node(name, pool, cpu string) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"pool": pool}},
		Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{"cpu": resource.MustParse(cpu), "memory": resource.MustParse("1Gi")},
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
	}
}

// rig is a reconciler on a fake cluster that counts writes.
type rig struct {
	*reconciler
	events *events.FakeRecorder
	writes int
	refuse error
}

func newRig(t *testing.T, objects ...client.Object) *rig {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, schedulingsigsv1alpha1.AddToScheme, quotav1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	r := &rig{events: events.NewFakeRecorder(10)}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{
		Apply: func(ctx context.Context, c client.WithWatch, object runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			if r.writes++; r.refuse != nil {
				return r.refuse
			}
			return c.Apply(ctx, object, options...)
		},
	}).Build()
	r.reconciler = &reconciler{client: c, recorder: r.events}
	return r
}

func (r *rig) run(t *testing.T) ctrl.Result {
	t.Helper()
	result, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: profileName})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func (r *rig) event() string {
	select {
	case text := <-r.events.Events:
		return text
	default:
		return ""
	}
}

func (r *rig) quota(t *testing.T) *schedulingsigsv1alpha1.ElasticQuota {
	t.Helper()
	var quota schedulingsigsv1alpha1.ElasticQuota
	if err := r.client.Get(t.Context(), quotaName, &quota); err != nil {
		t.Fatal(err)
	}
	return &quota
}

func TestTheQuotaFollowsTheNodes(t *testing.T) {
	r := newRig(t, profile(), node("a1", "a", "4"), node("a2", "a", "6"), node("b1", "b", "100"))
	r.run(t)
	quota := r.quota(t)
	if cpu := quota.Spec.Min["cpu"]; cpu.String() != "10" || quota.Annotations[extension.AnnotationQuotaTotalResource] != `{"cpu":"10","memory":"2Gi"}` {
		t.Errorf("min is %s, total %s", cpu.String(), quota.Annotations[extension.AnnotationQuotaTotalResource])
	}
	var labelled quotav1alpha1.ElasticQuotaProfile
	if err := r.client.Get(t.Context(), profileName, &labelled); err != nil {
		t.Fatal(err)
	}
	if id := labelled.Labels[extension.LabelQuotaTreeID]; id == "" || id != quota.Labels[extension.LabelQuotaTreeID] {
		t.Errorf("the tree of the profile is %q, that of the quota %q", id, quota.Labels[extension.LabelQuotaTreeID])
	}
	r.run(t)
	if r.writes != 1 {
		t.Errorf("%d writes, want 1: nothing has changed", r.writes)
	}
	if err := r.client.Create(t.Context(), node("a3", "a", "1")); err != nil {
		t.Fatal(err)
	}
	r.run(t)
	if cpu := r.quota(t).Spec.Min["cpu"]; cpu.String() != "11" {
		t.Errorf("min is %s after a node came", cpu.String())
	}
	edited := r.quota(t)
	edited.Spec.Min["cpu"] = resource.MustParse("1")
	edited.Annotations["mine"] = "stays"
	if err := r.client.Update(t.Context(), edited); err != nil {
		t.Fatal(err)
	}
	r.run(t)
	quota = r.quota(t)
	if cpu := quota.Spec.Min["cpu"]; cpu.String() != "11" || quota.Annotations["mine"] != "stays" {
		t.Errorf("after an edit: min %s, annotations %v", cpu.String(), quota.Annotations)
	}
}

func TestWhatIsInTheWayIsTold(t *testing.T) {
	invalid := profile()
	invalid.Spec.ResourceRatio = new("most")
	others := &schedulingsigsv1alpha1.ElasticQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "root"}}
	tests := map[string]struct {
		objects   []client.Object
		refuse    error
		wantEvent string
		wantRetry bool
	}{
		"an invalid profile":    {objects: []client.Object{invalid}, wantEvent: "KOORD1330"},
		"a quota of a person's": {objects: []client.Object{profile(), others}, wantEvent: "KOORD1331", wantRetry: true},
		"a quota that admission refuses": {objects: []client.Object{profile()}, wantEvent: "KOORD1331", wantRetry: true,
			refuse: apierrors.NewForbidden(schema.GroupResource{Resource: "elasticquotas"}, "root", context.DeadlineExceeded)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, test.objects...)
			if test.refuse != nil {
				r.refuse = test.refuse
			}
			result := r.run(t)
			if got := r.event(); !strings.Contains(got, test.wantEvent) {
				t.Errorf("event is %q, want %q", got, test.wantEvent)
			}
			if (result.RequeueAfter == retry) != test.wantRetry {
				t.Errorf("again after %s", result.RequeueAfter)
			}
		})
	}
	if r := newRig(t); r.run(t) != (ctrl.Result{}) {
		t.Error("a profile that is gone is tried again")
	}
}

func TestHeartbeatsAndStatusesDoNotMatter(t *testing.T) {
	before := node("a", "a", "4")
	heartbeat, cordoned, smaller := before.DeepCopy(), before.DeepCopy(), node("a", "a", "3")
	heartbeat.Status.Conditions[0].LastHeartbeatTime = metav1.Now()
	cordoned.Spec.Unschedulable = true
	for name, test := range map[string]struct {
		after *corev1.Node
		want  bool
	}{"a heartbeat": {heartbeat, false}, "a cordon": {cordoned, true}, "fewer CPUs": {smaller, true}, "another pool": {node("a", "b", "4"), true}} {
		if got := nodeMatters().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: test.after}); got != test.want {
			t.Errorf("%s matters: %t", name, got)
		}
	}
	quota := &schedulingsigsv1alpha1.ElasticQuota{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{extension.LabelQuotaProfile: "profile"}}}
	status, total := quota.DeepCopy(), quota.DeepCopy()
	status.Annotations = map[string]string{extension.AnnotationQuotaRuntime: "{}"}
	total.Annotations = map[string]string{extension.AnnotationQuotaTotalResource: "{}"}
	for name, test := range map[string]struct {
		after *schedulingsigsv1alpha1.ElasticQuota
		want  bool
	}{"a status": {status, false}, "a total": {total, true}} {
		if got := quotaMatters().Update(event.UpdateEvent{ObjectOld: quota, ObjectNew: test.after}); got != test.want {
			t.Errorf("%s matters: %t", name, got)
		}
	}
	if requests := profileOf(t.Context(), quota); len(requests) != 1 || requests[0].Name != "profile" {
		t.Errorf("requests are %v", requests)
	}
}
