package reservation

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	decision "koordinator.sh/koord/decision/scheduling/reservation"
	"koordinator.sh/koord/scheduler/plugins/defaultprebind"
	"koordinator.sh/koord/scheduler/state/reservations"
)

func TestPodsAndTheirReservations(t *testing.T) {
	with := func(pod *corev1.Pod, key, value string) *corev1.Pod {
		pod.Annotations[key] = value
		return pod
	}
	a, b, small := newReservation("a", "node-1", "4"), newReservation("b", "node-1", "6"), newReservation("small", "node-2", "1")
	ordered := newReservation("ordered", "node-3", "8")
	ordered.Labels = map[string]string{extension.LabelReservationOrder: "1"}
	const affinity = extension.AnnotationReservationAffinity
	tests := map[string]struct {
		objects []*schedulingv1alpha1.Reservation
		pods    []*corev1.Pod
		pod     *corev1.Pod
		want    outcome
	}{
		"a pod where nothing is reserved": {pod: newPod("p", "web", "2"), want: outcome{Skipped: true}},
		"a pod that owns nothing":         {objects: []*schedulingv1alpha1.Reservation{a}, pod: newPod("p", "other", "2"), want: outcome{Skipped: true}},
		"an owner sees the node without its reservation, and with the other": {objects: []*schedulingv1alpha1.Reservation{a, b}, pod: newPod("p", "web", "4"), want: outcome{
			Nodes: map[string]string{"node-1": "ok a, 6000 in use", "node-2": "ok", "node-3": "ok"}, Proposed: []string{"node-1"}, Summary: "2 reservations match the owner: 2 usable on node-1"}},
		"the order decides which node is first": {objects: []*schedulingv1alpha1.Reservation{a, ordered}, pod: newPod("p", "web", "4"), want: outcome{
			Nodes:    map[string]string{"node-1": "ok a, 0 in use", "node-2": "ok", "node-3": "ok ordered, 0 in use"},
			Proposed: []string{"node-3", "node-1"}, Summary: "2 reservations match the owner: 1 usable on node-1, 1 usable on node-3"}},
		"an owner that does not fit may go elsewhere": {objects: []*schedulingv1alpha1.Reservation{small}, pod: newPod("p", "web", "4"), want: outcome{
			Nodes: map[string]string{"node-1": "ok", "node-2": "ok", "node-3": "ok"}, Summary: "1 reservation matches the owner: 1 with too little left"}},
		"unless it must use a reservation": {objects: []*schedulingv1alpha1.Reservation{small}, pod: with(newPod("p", "web", "4"), affinity, `{"name":"small"}`), want: outcome{
			Nodes: map[string]string{"node-2": "node(s) no reservation(s) to meet the requirements; Reservation(s) Insufficient cpu"}, Summary: "1 reservation matches the owner: 1 with too little left"}},
		"a pod that must use what is not there":    {pod: with(newPod("p", "web", "4"), affinity, `{"name":"none"}`), want: outcome{Refused: "node(s) no reservations match reservation affinity"}},
		"a pod that must use what it does not own": {objects: []*schedulingv1alpha1.Reservation{a}, pod: with(newPod("p", "other", "1"), affinity, `{"name":"a"}`), want: outcome{Refused: "node(s) no reservations match reservation affinity"}},
		"what cannot be read keeps the pod pending": {objects: []*schedulingv1alpha1.Reservation{a}, pod: with(newPod("p", "web", "1"), affinity, `{`), want: outcome{
			Refused: `decode annotation "scheduling.koordinator.sh/reservation-affinity": unexpected end of JSON input`}},
		"the rest of one that is in use": {objects: []*schedulingv1alpha1.Reservation{b}, pods: []*corev1.Pod{user("u", "2", "node-1", "b")}, pod: newPod("p", "web", "4"), want: outcome{
			Nodes: map[string]string{"node-1": "ok b, 2000 in use", "node-2": "ok", "node-3": "ok"}, Proposed: []string{"node-1"}, Summary: "1 reservation matches the owner: 1 usable on node-1"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, got := newFixture(t, "", test.objects, test.pods...).run(t, test.pod)
			if got.Refused != "" && test.want.Refused != "" && strings.Contains(test.want.Refused, "decode") {
				if !strings.Contains(got.Refused, affinity) {
					t.Errorf("refused because %q, which does not name the annotation", got.Refused)
				}
				return
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("outcome (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRestoredNodesAreCopies checks that what a pod sees does not change what others see.
func TestRestoredNodesAreCopies(t *testing.T) {
	f := newFixture(t, "", []*schedulingv1alpha1.Reservation{newReservation("a", "node-1", "4")})
	f.run(t, newPod("p", "web", "4"))
	if got := f.nodes["node-1"].GetRequested().GetMilliCPU(); got != 4000 {
		t.Errorf("%d milliCPU in use on the node itself, want 4000", got)
	}
}

// TestPreemptionOfUsers has a restricted reservation in use by another pod: with that gone, its owner passes.
func TestPreemptionOfUsers(t *testing.T) {
	f := newFixture(t, "", []*schedulingv1alpha1.Reservation{newReservation("a", "node-1", "4")}, user("u", "4", "node-1", "a"))
	pod := newPod("p", "web", "4")
	pod.Annotations[extension.AnnotationReservationAffinity] = `{"name":"a"}`
	state, got := f.run(t, pod)
	if !strings.HasPrefix(got.Nodes["node-1"], decision.ReasonUnfit) {
		t.Fatalf("outcome %+v", got)
	}
	dry := f.nodes["node-1"].Snapshot()
	if err := dry.RemovePod(klog.Background(), user("u", "4", "node-1", "a")); err != nil {
		t.Fatal(err)
	}
	if status := f.plugin.Filter(t.Context(), state, pod, dry); !status.IsSuccess() {
		t.Errorf("without the user: %v", status)
	}
}

func TestReserve(t *testing.T) {
	f := newFixture(t, "", []*schedulingv1alpha1.Reservation{newReservation("a", "node-1", "4")})
	pod := newPod("p", "web", "4")
	state, _ := f.run(t, pod)
	if status := f.plugin.Reserve(t.Context(), state, pod, "node-1"); !status.IsSuccess() {
		t.Fatal(status)
	}
	want := map[string]string{extension.AnnotationReservationAllocated: `{"name":"a","uid":"uid-a"}`}
	if diff := cmp.Diff(want, defaultprebind.Annotations(state)); diff != "" || f.state.assumed["p"] != "uid-a" {
		t.Errorf("assumed %v; annotations (-want +got):\n%s", f.state.assumed, diff)
	}
	f.plugin.Unreserve(t.Context(), state, pod, "node-1")
	if len(f.state.assumed) != 0 {
		t.Error("the pod still uses the reservation")
	}
	f.state.refuse = reservations.ErrInactive
	if status := f.plugin.Reserve(t.Context(), state, pod, "node-1"); status.Code() != fwk.Unschedulable || status.Message() != decision.ReasonInactive {
		t.Errorf("status %v for a reservation that ended", status)
	}
	stale := newPod("q", "other", "1")
	stale.Annotations[extension.AnnotationReservationAllocated] = `{"name":"a","uid":"uid-a"}`
	state, _ = f.run(t, stale)
	if status := f.plugin.Reserve(t.Context(), state, stale, "node-2"); !status.IsSuccess() {
		t.Fatal(status)
	}
	if value, found := defaultprebind.Annotations(state)[extension.AnnotationReservationAllocated]; !found || value != "" {
		t.Errorf("annotation %q of a failed attempt, want it emptied", value)
	}
}

func TestReservePods(t *testing.T) {
	pending := newReservation("new", "", "2")
	pending.Status = schedulingv1alpha1.ReservationStatus{}
	tests := map[string]struct {
		change func(*schedulingv1alpha1.Reservation)
		want   outcome
	}{
		"one may go anywhere":    {want: outcome{Nodes: map[string]string{"node-1": "ok", "node-2": "ok", "node-3": "ok"}}},
		"one goes where it says": {change: func(r *schedulingv1alpha1.Reservation) { r.Spec.Template.Spec.NodeName = "node-2" }, want: outcome{Nodes: map[string]string{"node-2": "ok"}}},
		"policies that do not go together": {change: func(r *schedulingv1alpha1.Reservation) { r.Spec.AllocatePolicy = "" },
			want: outcome{Nodes: map[string]string{"node-1": decision.ReasonPolicyConflict, "node-2": "ok", "node-3": "ok"}}},
		"one that may not be allocated ahead": {change: func(r *schedulingv1alpha1.Reservation) { r.Spec.PreAllocation, r.Spec.AllocatePolicy = true, "Aligned" },
			want: outcome{Refused: "pre-allocation requires allocatePolicy Restricted"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			object := pending.DeepCopy()
			if test.change != nil {
				test.change(object)
			}
			f := newFixture(t, "", []*schedulingv1alpha1.Reservation{newReservation("a", "node-1", "4"), object})
			_, got := f.run(t, decision.ReservePod(object, "s", false))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("outcome (-want +got):\n%s", diff)
			}
		})
	}
}

func TestScores(t *testing.T) {
	ordered := newReservation("ordered", "node-3", "8")
	ordered.Labels = map[string]string{extension.LabelReservationOrder: "5"}
	f := newFixture(t, "", []*schedulingv1alpha1.Reservation{newReservation("a", "node-1", "4"), ordered})
	pod := newPod("p", "web", "2")
	state, _ := f.run(t, pod)
	if status := f.plugin.PreScore(t.Context(), state, pod, nil); !status.IsSuccess() {
		t.Fatal(status)
	}
	var list fwk.NodeScoreList
	for _, name := range []string{"node-1", "node-2", "node-3"} {
		score, _ := f.plugin.Score(t.Context(), state, pod, f.nodes[name])
		list = append(list, fwk.NodeScore{Name: name, Score: score})
	}
	if diff := cmp.Diff(fwk.NodeScoreList{{Name: "node-1", Score: 50}, {Name: "node-2"}, {Name: "node-3", Score: 1000}}, list); diff != "" {
		t.Error(diff)
	}
	f.plugin.NormalizeScore(t.Context(), state, pod, list)
	if diff := cmp.Diff(fwk.NodeScoreList{{Name: "node-1", Score: 5}, {Name: "node-2"}, {Name: "node-3", Score: 100}}, list); diff != "" {
		t.Error(diff)
	}
	stranger := newPod("q", "other", "2")
	state, _ = f.run(t, stranger)
	if status := f.plugin.PreScore(t.Context(), state, stranger, nil); !status.IsSkip() {
		t.Errorf("PreScore %v for a pod that owns nothing", status)
	}
}

func TestSignatures(t *testing.T) {
	f := newFixture(t, "", []*schedulingv1alpha1.Reservation{newReservation("a", "node-1", "4")})
	wishing := newPod("w", "other", "1")
	wishing.Annotations[extension.AnnotationReservationAffinity] = `{"name":"a"}`
	for pod, want := range map[*corev1.Pod]bool{newPod("p", "other", "1"): true, newPod("p", "web", "1"): false, wishing: false} {
		if fragments, status := f.plugin.SignPod(t.Context(), pod); status.IsSuccess() != want || len(fragments) != 0 {
			t.Errorf("app %s, annotations %v: %v, want signed %v", pod.Labels["app"], pod.Annotations, status, want)
		}
	}
}

func TestWhatWakesAPod(t *testing.T) {
	active := newReservation("a", "node-1", "4")
	pending := active.DeepCopy()
	pending.Status = schedulingv1alpha1.ReservationStatus{}
	closed := active.DeepCopy()
	closed.Spec.Unschedulable = true
	used := active.DeepCopy()
	used.Status.Allocated = cpus("3")
	foreign := active.DeepCopy()
	foreign.Spec.Owners = nil
	f := newFixture(t, "", []*schedulingv1alpha1.Reservation{active})
	pod := newPod("p", "web", "4")
	for name, test := range map[string]struct {
		before, after any
		want          fwk.QueueingHint
	}{
		"a reservation appears":                 {nil, active, fwk.Queue},
		"a reservation is placed":               {pending, active, fwk.Queue},
		"one that is not placed":                {nil, pending, fwk.QueueSkip},
		"one for others":                        {nil, foreign, fwk.QueueSkip},
		"the same as before":                    {active, active, fwk.QueueSkip},
		"one is opened":                         {closed, active, fwk.Queue},
		"one is closed":                         {active, closed, fwk.QueueSkip},
		"a user leaves":                         {used, active, fwk.Queue},
		"a user comes":                          {active, used, fwk.QueueSkip},
		"one goes, which its reserve pod tells": {active, nil, fwk.QueueSkip},
	} {
		if got, err := f.plugin.afterReservation(klog.Background(), pod, test.before, test.after); got != test.want || err != nil {
			t.Errorf("%s: %v, error %v, want %v", name, got, err, test.want)
		}
	}
	elsewhere := newPod("x", "web", "1")
	elsewhere.Spec.NodeName = "node-2"
	edited, conditioned := pod.DeepCopy(), pod.DeepCopy()
	edited.Annotations[extension.AnnotationReservationAffinity] = `{"name":"b"}`
	conditioned.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled}}
	for name, test := range map[string]struct {
		before, after any
		want          fwk.QueueingHint
	}{
		"a user of its reservation goes": {user("u", "1", "node-1", "a"), nil, fwk.Queue},
		"a user of another goes":         {user("u", "1", "node-1", "b"), nil, fwk.QueueSkip},
		"a pod goes on another node":     {elsewhere, nil, fwk.QueueSkip},
		"the pod itself is edited":       {pod, edited, fwk.Queue},
		"its status is written":          {pod, conditioned, fwk.QueueSkip},
		"another pod changes":            {elsewhere, elsewhere, fwk.QueueSkip},
	} {
		if got, err := f.plugin.afterPod(klog.Background(), pod, test.before, test.after); got != test.want || err != nil {
			t.Errorf("%s: %v, error %v, want %v", name, got, err, test.want)
		}
	}
	for node, want := range map[string]fwk.QueueingHint{"node-1": fwk.Queue, "node-2": fwk.QueueSkip} {
		if got, err := f.plugin.afterNode(klog.Background(), pod, nil, f.nodes[node].Node()); got != want || err != nil {
			t.Errorf("%s: %v, error %v, want %v", node, got, err, want)
		}
	}
}

func TestExplanations(t *testing.T) {
	f := newFixture(t, "", []*schedulingv1alpha1.Reservation{newReservation("a", "node-1", "4")}, user("u", "3", "node-1", "a"))
	pod := newPod("p", "web", "4")
	pod.Annotations[extension.AnnotationReservationAffinity] = `{"name":"a"}`
	state, got := f.run(t, pod)
	reasons := strings.Split(got.Nodes["node-1"], "; ")
	subject, found := f.plugin.ExplainRefusal(t.Context(), state, pod, f.nodes["node-1"], reasons[0])
	if !found || subject.Code != finding.ReservationInsufficient {
		t.Fatalf("subject %+v", subject)
	}
	message, operands := subject.Describe()
	if want := "Insufficient cpu of a: needs 4, 1 free; 1 reservation matches the owner: 1 with too little left"; message != want {
		t.Errorf("message %q, want %q", message, want)
	}
	if len(operands) != 2 || operands[0].Value != 4000 || operands[1].Value != 1000 {
		t.Errorf("operands %+v", operands)
	}
	changes := f.plugin.Advise(t.Context(), state, pod, f.nodes["node-1"], reasons)
	if len(changes) != 2 || changes[0].Pod == nil || changes[0].Pod.Annotations[extension.AnnotationReservationAffinity] != "" || changes[1].Evict[0].Name != "u" {
		t.Errorf("changes %+v", changes)
	}
	elsewhere := newPod("q", "other", "1")
	elsewhere.Annotations[extension.AnnotationReservationAffinity] = `{"name":"a"}`
	state, got = f.run(t, elsewhere)
	subject, found = f.plugin.ExplainRefusal(t.Context(), state, elsewhere, f.nodes["node-1"], got.Refused)
	if message, _ := subject.Describe(); !found || subject.Code != finding.ReservationAffinityUnmatched || message != "no reservation matches the owner" {
		t.Errorf("code %s, message %q", subject.Code, message)
	}
	elsewhere.Annotations[extension.AnnotationReservationAffinity] = `{`
	state, got = f.run(t, elsewhere)
	if subject, found = f.plugin.ExplainRefusal(t.Context(), state, elsewhere, f.nodes["node-1"], got.Refused); !found || subject.Code != finding.ReservationWishInvalid {
		t.Errorf("subject %+v", subject)
	}
	if _, found := f.plugin.ExplainRefusal(t.Context(), state, newPod("p", "web", "1"), f.nodes["node-1"], "node(s) had too little of everything"); found {
		t.Error("the reason of another plugin is explained")
	}
}

func TestArguments(t *testing.T) {
	for args, want := range map[string]string{`{"gcDurationSeconds":-1}`: "gcDurationSeconds", `{"enablePreemtion":true}`: "enablePreemtion", `{"controllerWorkers":1000}`: "controllerWorkers"} {
		_, err := Factory(&memory{}, nil, time.Now)(t.Context(), &runtime.Unknown{Raw: []byte(args)}, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one about %s", args, err, want)
		}
	}
}

// BenchmarkPreFilterPlain is a pod that owns nothing, beside a thousand reservations for others.
func BenchmarkPreFilterPlain(b *testing.B) { benchmark(b, newPod("p", "other", "1")) }

// BenchmarkPreFilterOwner is a pod that owns a thousand reservations on three nodes.
func BenchmarkPreFilterOwner(b *testing.B) { benchmark(b, newPod("p", "web", "1")) }

func benchmark(b *testing.B, pod *corev1.Pod) {
	var objects []*schedulingv1alpha1.Reservation
	for i := range 1000 {
		objects = append(objects, newReservation(fmt.Sprint("r", i), fmt.Sprint("node-", i%3+1), "1"))
	}
	f := newFixture(b, "", objects)
	b.ReportAllocs()
	for b.Loop() {
		f.plugin.PreFilter(b.Context(), framework.NewCycleState(), pod, nil)
	}
}
