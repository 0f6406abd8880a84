package schedulinghint

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/scheduler/reason"
)

func newPlugin(t *testing.T) *Plugin {
	t.Helper()
	plugin, err := New(t.Context(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return plugin.(*Plugin)
}

func podHinting(hint string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "u"}}
	if hint != "" {
		pod.Annotations = map[string]string{extension.AnnotationSchedulingHint: hint}
	}
	return pod
}

func TestExpiredHintsOfTheManagerPreferNothing(t *testing.T) {
	plugin := newPlugin(t)
	pod := podHinting(`{"preferredNodeNames":["a"],"extensions":{"query":{"writer":"koord-manager","time":"2026-03-04T05:06:07Z"}}}`)
	for hour, want := range map[int]fwk.Code{5: fwk.Success, 6: fwk.Skip} {
		plugin.now = func() time.Time { return time.Date(2026, 3, 4, hour, 10, 0, 0, time.UTC) }
		state := framework.NewCycleState()
		if _, status := plugin.PreFilter(t.Context(), state, pod, nil); status.Code() != want {
			t.Errorf("at %d:10 PreFilter %v, want code %v", hour, status, want)
		}
		if got := len(plugin.Propose(t.Context(), state, pod)); (got == 0) != (want == fwk.Skip) {
			t.Errorf("at %d:10 %d nodes are proposed", hour, got)
		}
	}
}

func TestHints(t *testing.T) {
	plugin := newPlugin(t)
	tests := map[string]struct {
		hint         string
		wantCode     fwk.Code
		wantNodes    sets.Set[string]
		wantNoScore  bool
		wantScore    int64
		wantUnsigned bool
	}{
		"a pod without a hint is skipped":                  {wantCode: fwk.Skip, wantNoScore: true},
		"a hint restricts":                                 {hint: `{"nodeNames":["a"]}`, wantNodes: sets.New("a"), wantNoScore: true, wantUnsigned: true},
		"a hint prefers":                                   {hint: `{"preferredNodeNames":["b","a"]}`, wantScore: 51, wantUnsigned: true},
		"a hint that cannot be read keeps the pod pending": {hint: `{`, wantCode: fwk.UnschedulableAndUnresolvable, wantNoScore: true, wantUnsigned: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			state, pod := framework.NewCycleState(), podHinting(test.hint)
			result, status := plugin.PreFilter(t.Context(), state, pod, nil)
			if status.Code() != test.wantCode {
				t.Errorf("PreFilter %v, want code %v", status, test.wantCode)
			}
			if result != nil {
				if diff := cmp.Diff(test.wantNodes, result.NodeNames); diff != "" {
					t.Errorf("nodes (-want +got):\n%s", diff)
				}
			}
			if status := plugin.PreScore(t.Context(), state, pod, nil); status.IsSkip() != test.wantNoScore {
				t.Errorf("PreScore %v, want skip %v", status, test.wantNoScore)
			}
			info := framework.NewNodeInfo()
			info.SetNode(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}})
			if got, _ := plugin.Score(t.Context(), state, pod, info); got != test.wantScore {
				t.Errorf("score %d, want %d", got, test.wantScore)
			}
			if _, status := plugin.SignPod(t.Context(), pod); status.IsSuccess() == test.wantUnsigned {
				t.Errorf("SignPod %v, want unsigned %v", status, test.wantUnsigned)
			}
		})
	}
}

func TestPodsWakeForTheirNodesOnly(t *testing.T) {
	plugin := newPlugin(t)
	named := func(name string) *corev1.Node { return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}} }
	pod := podHinting(`{"nodeNames":["a"]}`)
	for name, want := range map[string]fwk.QueueingHint{"a": fwk.Queue, "b": fwk.QueueSkip} {
		if got, err := plugin.afterNode(klog.Background(), pod, nil, named(name)); got != want || err != nil {
			t.Errorf("node %s: %v, error %v, want %v", name, got, err, want)
		}
	}
}

// TestAPodWithoutItsHintIsTriedAgain uses the event that the queue gets for an edited annotation: a general update of the pod.
func TestAPodWithoutItsHintIsTriedAgain(t *testing.T) {
	events, err := newPlugin(t).EventsToRegister(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	before, after := podHinting(`{"nodeNames":["a"]}`), podHinting("")
	for _, happened := range framework.PodSchedulingPropertiesChange(after, before) {
		for _, registered := range events {
			if !framework.MatchClusterEvents(registered.Event, happened) {
				continue
			}
			if hint, err := registered.QueueingHintFn(klog.Background(), after, before, after); err == nil && hint == fwk.Queue {
				return
			}
		}
	}
	t.Errorf("no event of %v wakes the pod", events)
}

func TestArgumentsAreChecked(t *testing.T) {
	_, err := New(t.Context(), &runtime.Unknown{Raw: []byte(`{"maxHintNodes":0}`)}, nil)
	if err == nil || !strings.Contains(err.Error(), "maxHintNodes") {
		t.Errorf("error %v, want one about maxHintNodes", err)
	}
}

func TestRefusalsAreExplained(t *testing.T) {
	plugin, info := newPlugin(t), framework.NewNodeInfo()
	info.SetNode(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "z"}})
	left := reason.Exclusion(Name, true)
	_, broken := plugin.PreFilter(t.Context(), framework.NewCycleState(), podHinting(`{`), nil)
	tests := map[string]struct {
		hint, text, wantMessage string
		want                    finding.Code
	}{
		"a pod that may go anywhere is not refused":    {hint: `{"preferredNodeNames":["a"]}`, text: left},
		"a hint that names other nodes":                {hint: `{"nodeNames":["b","a"]}`, text: left, want: finding.SchedulingHintMismatch, wantMessage: "the scheduling hint restricts the pod to a, b"},
		"a hint with many nodes":                       {hint: `{"nodeNames":["a","b","c","d","e"]}`, text: left, want: finding.SchedulingHintMismatch, wantMessage: "the scheduling hint restricts the pod to a, b, c and 2 more nodes"},
		"a hint that cannot be read":                   {hint: `{`, text: broken.Message(), want: finding.SchedulingHintInvalid, wantMessage: "scheduling-hint"},
		"a node that another plugin left out":          {hint: `{"nodeNames":["b"]}`, text: reason.Exclusion("NodeAffinity", true)},
		"another cause, of a hint that cannot be read": {hint: `{`, text: left},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			pod := podHinting(test.hint)
			subject, ok := plugin.ExplainRefusal(t.Context(), nil, pod, info, test.text)
			if ok != (test.want != "") || subject.Code != test.want {
				t.Fatalf("subject %+v, want code %q", subject, test.want)
			}
			if !ok {
				return
			}
			if got := plugin.CodeOf(test.text); got != test.want {
				t.Errorf("code %q of %q, want %q", got, test.text, test.want)
			}
			if message, _ := subject.Describe(); !strings.Contains(message, test.wantMessage) {
				t.Errorf("message %q, want %q", message, test.wantMessage)
			}
			changes := plugin.Advise(t.Context(), nil, pod, info, nil)
			if len(changes) != 1 || len(changes[0].Pod.Annotations) != 0 || len(pod.Annotations) != 1 {
				t.Errorf("changes %+v", changes)
			}
		})
	}
}
