package controller

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/component-base/metrics/testutil"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/scheduler/eventthrottle"
	"koordinator.sh/koord/test/eventually"
)

func childOf(parent string, object *schedulingsigsv1alpha1.ElasticQuota) *schedulingsigsv1alpha1.ElasticQuota {
	object.Labels = map[string]string{extension.LabelQuotaParent: parent}
	return object
}

// told returns the events since the last call.
func (r *rig) told() []string {
	r.t.Helper()
	if err := r.announceAll(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	var list []string
	for recorder := r.Recorder.(*events.FakeRecorder); ; {
		select {
		case event := <-recorder.Events:
			list = append(list, event)
		default:
			return list
		}
	}
}

func problemsIn(t *testing.T, code, namespace, name string) float64 {
	t.Helper()
	value, err := testutil.GetGaugeMetricValue(problemsMetric.WithLabelValues(code, namespace, name))
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func TestProblemsAreToldOnceAndAgainAfterAWhile(t *testing.T) {
	r := newRig(t, "", newNode("20"), childOf("gone", newQuota("team", "5", "8")))
	want := []string{`Warning QuotaParentMissing KOORD1207: there is no parent "gone"; the quota is at the top of its tree`}
	if diff := cmp.Diff(want, r.told()); diff != "" {
		t.Errorf("at first (-want +got):\n%s", diff)
	}
	if got := problemsIn(t, "KOORD1207", "q", "team"); got != 1 {
		t.Errorf("the metric counts %v", got)
	}
	r.now = r.now.Add(eventthrottle.Again - time.Second)
	if got := r.told(); got != nil {
		t.Errorf("nothing changed, and it is told: %v", got)
	}
	r.now = r.now.Add(time.Second)
	if diff := cmp.Diff(want, r.told()); diff != "" {
		t.Errorf("after a while (-want +got):\n%s", diff)
	}
	r.quotas.Modify(newQuota("team", "5", "8"))
	eventually.True(r.t, "the quota put right", func() bool { return len(r.state.Problems()) == 0 })
	if got := r.told(); got != nil {
		t.Errorf("of a quota that was put right it is told: %v", got)
	}
	if len(r.counted) != 0 {
		t.Errorf("remembered: %v", r.counted)
	}
	if got := problemsIn(t, "KOORD1207", "q", "team"); got != 0 {
		t.Errorf("the metric still counts %v", got)
	}
}

// regarding remembers what events are about.
type regarding struct{ objects []runtime.Object }

func (r *regarding) Eventf(object, _ runtime.Object, _, _, _, _ string, _ ...any) {
	r.objects = append(r.objects, object)
}

func TestEventsAreOnTheQuotaThatDoesNotCount(t *testing.T) {
	younger := newQuota("team", "5", "8")
	younger.Namespace, younger.UID = "z", types.UID("younger")
	r := newRig(t, "", newNode("20"), newQuota("team", "5", "8"), younger)
	about := &regarding{}
	r.Recorder = about
	if err := r.announceAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(about.objects) != 1 {
		t.Fatalf("%d events", len(about.objects))
	}
	reference, ok := about.objects[0].(*corev1.ObjectReference)
	if !ok || reference.Namespace != "z" || reference.UID != "younger" || reference.Kind != "ElasticQuota" || reference.APIVersion != "scheduling.sigs.k8s.io/v1alpha1" {
		t.Errorf("the event is about %#v", about.objects[0])
	}
}

func TestAFloodOfProblemsIsToldBitByBit(t *testing.T) {
	var objects []runtime.Object
	for i := range eventthrottle.Burst + 20 {
		objects = append(objects, childOf("gone", newQuota(fmt.Sprintf("quota-%03d", i), "1", "2")))
	}
	r := newRig(t, "", objects...)
	r.Recorder = events.NewFakeRecorder(1000)
	first := r.told()
	if len(first) < eventthrottle.Burst || len(first) > eventthrottle.Burst+10 {
		t.Errorf("%d events at once, want about %d", len(first), eventthrottle.Burst)
	}
	if len(r.counted) != eventthrottle.Burst+20 {
		t.Errorf("the metric counts %d quotas", len(r.counted))
	}
	r.count(nil)
}

func TestTheRootShowsWhatThereIs(t *testing.T) {
	root := newQuota(extension.RootQuotaName, "0", "0")
	root.Namespace, root.Spec = "koordinator-system", schedulingsigsv1alpha1.ElasticQuotaSpec{}
	r := newRig(t, "", newNode("20"), root, newQuota("team", "5", "8"), newPod("a", "3", "team", 0), newPod("b", "2", "", 0))
	r.write()
	patch := r.patches()[extension.RootQuotaName]
	metadata, _ := patch["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	got := []any{annotations[extension.AnnotationQuotaTotalResource], annotations[extension.AnnotationQuotaRuntime], annotations[extension.AnnotationQuotaRequest], patch["status"]}
	want := []any{`{"cpu":"20","memory":"0"}`, `{"cpu":"18","memory":"0"}`, `{"cpu":"3","memory":"0"}`, map[string]any{"used": map[string]any{"cpu": "5", "memory": "0"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("written on the root (-want +got):\n%s\nall of it: %v", diff, patch)
	}
	r.write()
	if again := r.patches()[extension.RootQuotaName]; again != nil {
		t.Errorf("nothing changed, and %v is written", again)
	}
	if strings.Contains(fmt.Sprint(r.patches()["team"]), extension.AnnotationQuotaTotalResource) {
		t.Error("other quotas have no total")
	}
}
