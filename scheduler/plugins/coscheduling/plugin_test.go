package coscheduling

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/gang"
	"koordinator.sh/koord/decision/scheduling/networktopology"
	"koordinator.sh/koord/scheduler/reason"
)

// gangOf supposes a PodGroup with pods, as explanations do.
func gangOf(t testing.TB, minimum int32, members int) *fixture {
	t.Helper()
	f := newFixture(t)
	f.state.Suppose(groupIn("a", minimum))
	for i := range members {
		f.state.SupposePod(memberOf("a", i))
	}
	return f
}

func groupIn(name string, minimum int32) *schedulingsigsv1alpha1.PodGroup {
	group := &schedulingsigsv1alpha1.PodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, CreationTimestamp: metav1.NewTime(begin)}}
	group.Spec.MinMember = minimum
	return group
}

var begin = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

func memberOf(group string, index int) *corev1.Pod {
	name := group + "-" + string(rune('0'+index))
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name), Labels: map[string]string{extension.LabelPodGroup: group}}}
}

func TestPlainPodsPassEverything(t *testing.T) {
	f := gangOf(t, 3, 2)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p"}}
	if status := f.plugin.PreEnqueue(t.Context(), pod); !status.IsSuccess() {
		t.Errorf("PreEnqueue: %v", status)
	}
	if _, status := f.plugin.PreFilter(t.Context(), framework.NewCycleState(), pod, nil); !status.IsSkip() {
		t.Errorf("PreFilter: %v", status)
	}
	if _, status := f.plugin.PostFilter(t.Context(), framework.NewCycleState(), pod, nil); status.Code() != fwk.Unschedulable || status.Message() != "" {
		t.Errorf("PostFilter: %v", status)
	}
	if status, wait := f.plugin.Permit(t.Context(), framework.NewCycleState(), pod, "n"); !status.IsSuccess() || wait != 0 {
		t.Errorf("Permit: %v, %v", status, wait)
	}
	if f.plugin.PreScore(t.Context(), nil, pod, nil).Code() != fwk.Skip {
		t.Error("PreScore does not skip")
	}
	if _, status := f.plugin.PreBindPreFlight(t.Context(), nil, pod, "n"); status.Code() != fwk.Skip {
		t.Error("PreBind does not skip")
	}
	if allocations := testing.AllocsPerRun(100, func() { f.plugin.PreEnqueue(t.Context(), pod); _, _ = f.plugin.SignPod(t.Context(), pod) }); allocations != 0 {
		t.Errorf("%v allocations for a plain pod", allocations)
	}
}

func TestMembersAreHeldBackUntilTheyExist(t *testing.T) {
	f := gangOf(t, 3, 2)
	status := f.plugin.PreEnqueue(t.Context(), memberOf("a", 0))
	if status.Code() != fwk.UnschedulableAndUnresolvable || !strings.Contains(status.Message(), "child pod not collect enough, current gang: default/a") {
		t.Errorf("two of three: %v", status)
	}
	f.state.SupposePod(memberOf("a", 2))
	if status := f.plugin.PreEnqueue(t.Context(), memberOf("a", 0)); !status.IsSuccess() {
		t.Errorf("three of three: %v", status)
	}
}

func TestRefusedMembersAreExplained(t *testing.T) {
	f := gangOf(t, 3, 3)
	f.state.Permit(keyIn("a"), memberOf("a", 1), "n")
	f.state.Permit(keyIn("a"), memberOf("a", 2), "n")
	f.state.Fail(keyIn("a"), memberOf("a", 0), "0/5 nodes are available: 5 Insufficient cpu.")
	f.state.Release("a-1")
	f.state.Release("a-2")
	state, node := framework.NewCycleState(), framework.NewNodeInfo()
	node.SetNode(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}})
	_, status := f.plugin.PreFilter(t.Context(), state, memberOf("a", 1), nil)
	if status.Code() != fwk.UnschedulableAndUnresolvable {
		t.Fatalf("PreFilter: %v", status)
	}
	if _, after := f.plugin.PostFilter(t.Context(), state, memberOf("a", 1), framework.NewDefaultNodeToStatus()); after.Message() != "" {
		t.Errorf("a member that was not tried is counted as refused: %v", after)
	}
	if _, own := f.plugin.PreFilter(t.Context(), framework.NewCycleState(), memberOf("a", 0), nil); !own.IsSkip() {
		t.Errorf("the refused member itself: %v", own)
	}
	subject, found := f.plugin.ExplainRefusal(t.Context(), state, memberOf("a", 1), node, status.Message())
	if !found || subject.Code != finding.GangMemberRefused || subject.Phrase != "member default/a-0 of the gang found no node" {
		t.Fatalf("subject %+v", subject)
	}
	message, terms := subject.Describe()
	want := "gang default/a: 0 of 3 members placed; member default/a-0 was refused when 2 had a node: 0/5 nodes are available: 5 Insufficient cpu."
	if diff := cmp.Diff(want, message); diff != "" || len(terms) != 4 || terms[0].Value != 3 {
		t.Errorf("terms %+v, message (-want +got):\n%s", terms, diff)
	}
	changes := f.plugin.Advise(t.Context(), state, memberOf("a", 1), node, []string{status.Message()})
	if len(changes) != 1 {
		t.Fatalf("%d changes", len(changes))
	}
	group := changes[0].Object.(*schedulingsigsv1alpha1.PodGroup)
	fork := f.state.Fork()
	fork.Suppose(group)
	if group.Spec.MinMember != 2 || !fork.Admit(keyIn("a"), "a-1").Passed() || changes[0].Fix.Steps[0].Patch != `{"spec":{"minMember":2}}` {
		t.Errorf("change %+v", changes[0])
	}
	if _, found := f.plugin.ExplainRefusal(t.Context(), state, memberOf("a", 0), node, "5 Insufficient cpu"); found {
		t.Error("the refusal of another plugin is explained")
	}
}

func TestReasonsTellTheirCode(t *testing.T) {
	f := gangOf(t, 3, 2)
	_, missing := f.plugin.PreFilter(t.Context(), framework.NewCycleState(), memberOf("a", 0), nil)
	for text, want := range map[string]finding.Code{
		missing.Message():            finding.GangMembersMissing,
		reason.Exclusion(Name, true): finding.GangTopologyUnsatisfied,
		networktopology.Place(networktopology.Input{Rules: []extension.NetworkTopologyGatherRule{{Layer: "moon"}}}, nil).Reason: finding.GangTopologyInvalid,
		reason.Exclusion("NodeAffinity", true): "",
	} {
		if got := f.plugin.CodeOf(text); got != want {
			t.Errorf("%q has code %q, want %q", text, got, want)
		}
	}
}

func TestMissingMembersCanBeDoneWithout(t *testing.T) {
	f := gangOf(t, 3, 2)
	node := framework.NewNodeInfo()
	node.SetNode(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}})
	subject, _ := f.plugin.ExplainRefusal(t.Context(), nil, memberOf("a", 0), node, "")
	changes := f.plugin.Advise(t.Context(), nil, memberOf("a", 0), node, nil)
	if subject.Code != finding.GangMembersMissing || len(changes) != 1 || changes[0].Object.(*schedulingsigsv1alpha1.PodGroup).Spec.MinMember != 2 {
		t.Errorf("subject %+v, changes %+v", subject, changes)
	}
}

func TestLess(t *testing.T) {
	f := gangOf(t, 2, 2)
	f.state.SupposePod(func() *corev1.Pod {
		pod := memberOf("b", 0)
		pod.CreationTimestamp = metav1.NewTime(begin.Add(time.Minute))
		return pod
	}())
	queued := func(pod *corev1.Pod, after time.Duration) *framework.QueuedPodInfo {
		return &framework.QueuedPodInfo{PodInfo: &framework.PodInfo{Pod: pod}, Timestamp: begin.Add(after)}
	}
	plain := func(priority int32) *corev1.Pod { return &corev1.Pod{Spec: corev1.PodSpec{Priority: &priority}} }
	ordered := []*framework.QueuedPodInfo{
		queued(plain(10), time.Hour), queued(memberOf("a", 0), time.Second), queued(memberOf("a", 1), time.Hour), queued(plain(0), 2*time.Second),
		queued(memberOf("b", 0), 0), queued(plain(0), time.Hour),
	}
	for i := range ordered {
		for j := range ordered {
			if got := f.plugin.Less(ordered[i], ordered[j]); got != (i < j) {
				t.Errorf("%d before %d: %v", i, j, got)
			}
		}
	}
}

func TestFactoryRefusesBadArguments(t *testing.T) {
	f := newFixture(t)
	for name, text := range map[string]string{
		"out of range":         `{"defaultTimeout":"-1s"}`,
		"misspelt":             `{"defaultTimeouts":"1s"}`,
		"unlike other profile": `{"defaultTimeout":"1s"}`,
	} {
		_, err := Factory(f.state)(t.Context(), &runtime.Unknown{Raw: []byte(text)}, f.plugin.handle)
		if err == nil || !strings.Contains(err.Error(), gang.Kind) {
			t.Errorf("%s: error %v, want one of %s", name, err, gang.Kind)
		}
	}
}

func TestEventsHaveHints(t *testing.T) {
	f := gangOf(t, 1, 1)
	for _, aware := range []bool{false, true} {
		f.plugin.args.AwareNetworkTopology = &aware
		events, err := f.plugin.EventsToRegister(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, event := range events {
			if event.QueueingHintFn == nil {
				t.Errorf("every %v event would wake every member", event.Event)
			}
		}
		if (len(events) > 1) != aware {
			t.Errorf("aware %v: %d events", aware, len(events))
		}
	}
	own, other := memberOf("a", 0), memberOf("a", 1)
	if hint, err := afterPod(klog.Background(), own, nil, own); err != nil || hint != fwk.Queue {
		t.Errorf("the pod itself: %v, %v", hint, err)
	}
	if hint, err := afterPod(klog.Background(), own, nil, other); err != nil || hint != fwk.QueueSkip {
		t.Errorf("another pod: %v, %v", hint, err)
	}
	if hint, err := afterPod(klog.Background(), own, nil, "?"); err == nil || hint != fwk.Queue {
		t.Errorf("something else: %v, %v", hint, err)
	}
	if hint, _ := f.plugin.afterRoom(klog.Background(), own, nil, nil); hint != fwk.QueueSkip {
		t.Error("a gang that need not be close together is woken by room")
	}
}
