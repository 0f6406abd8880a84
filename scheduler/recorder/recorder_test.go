package recorder

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
	"pgregory.net/rapid"
)

// clock moves a second at every look.
func clock() func() time.Time {
	at := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	return func() time.Time { at = at.Add(time.Second); return at }
}

func podOf(name, workload string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name)}}
	if workload != "" {
		controls := true
		pod.OwnerReferences = []metav1.OwnerReference{{Kind: "Job", Name: workload, Controller: &controls}}
	}
	return pod
}

func scoresOf(totals ...int64) []fwk.NodePluginScores {
	list := make([]fwk.NodePluginScores, len(totals))
	for i, total := range totals {
		list[i] = fwk.NodePluginScores{Name: fmt.Sprint("n", i), TotalScore: total, Scores: []fwk.PluginScore{{Name: "Fit", Score: total}}}
	}
	return list
}

func small() Bounds { return Bounds{Pods: 2, Attempts: 3, Nodes: 2, Refusals: 2, Message: 10} }

func TestAnAttemptThatSucceeds(t *testing.T) {
	recorder, pod := New(small(), clock()), podOf("p", "")
	recorder.Begin(pod)
	recorder.Scored(pod, scoresOf(5, 9, 9, 1))
	recorder.Placed(pod, "n2")
	want := []Attempt{{
		Began: clock()(), Took: time.Second, Number: 1, Outcome: Placed, Node: "n2", Feasible: 4,
		Best: []Score{{"n2", 9, []PluginScore{{"Fit", 9}}}, {"n1", 9, []PluginScore{{"Fit", 9}}}},
	}}
	if diff := cmp.Diff(want, recorder.History("p")); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
}

func TestFailuresKeepWhatMattersMost(t *testing.T) {
	recorder, pod := New(small(), clock()), podOf("p", "")
	recorder.Begin(pod)
	recorder.Fail(pod, Failure{Outcome: Unschedulable, Message: "0/30 nodes are available", Refusals: []Refusal{{"A", "a", 1}, {"B", "b", 20}, {"C", "c", 9}}})
	got := recorder.History("p")[0]
	if diff := cmp.Diff([]Refusal{{"B", "b", 20}, {"C", "c", 9}}, got.Refusals); diff != "" || got.Message != "0/30 nodes" {
		t.Errorf("message %q, refusals (-want +got):\n%s", got.Message, diff)
	}
}

func TestAPodThatLosesItsNodeHasAnotherAttempt(t *testing.T) {
	recorder, pod := New(small(), clock()), podOf("p", "")
	recorder.Begin(pod)
	recorder.Placed(pod, "n1")
	recorder.Begin(podOf("q", "")) // the next pod is on the scheduling thread when the binding fails
	recorder.Fail(pod, Failure{Outcome: Failed, Message: "conflict"})
	history := recorder.History("p")
	if len(history) != 2 || history[0].Outcome != Placed || history[1].Outcome != Failed {
		t.Errorf("history %+v", history)
	}
}

func TestTheFirstAndTheLatestAttemptsStay(t *testing.T) {
	recorder, pod := New(small(), clock()), podOf("p", "")
	for range 6 {
		recorder.Begin(pod)
		recorder.Fail(pod, Failure{Outcome: Unschedulable})
	}
	var numbers []int32
	for _, attempt := range recorder.History("p") {
		numbers = append(numbers, attempt.Number)
	}
	if diff := cmp.Diff([]int32{1, 5, 6}, numbers); diff != "" {
		t.Errorf("attempts (-want +got):\n%s", diff)
	}
}

func TestThePodAttemptedLongestAgoIsForgotten(t *testing.T) {
	recorder := New(small(), clock())
	for _, name := range []string{"a", "b", "a", "c"} {
		recorder.Begin(podOf(name, ""))
		recorder.Placed(podOf(name, ""), "n")
	}
	var kept []string
	for _, name := range []string{"a", "b", "c"} {
		if len(recorder.History(types.UID(name))) > 0 {
			kept = append(kept, name)
		}
	}
	if diff := cmp.Diff([]string{"a", "c"}, kept); diff != "" {
		t.Errorf("pods kept (-want +got):\n%s", diff)
	}
}

func TestSiblingsAreOfTheSameWorkload(t *testing.T) {
	bounds := small()
	bounds.Pods = 10
	recorder := New(bounds, clock())
	for name, workload := range map[string]string{"a-1": "a", "a-2": "a", "b-1": "b", "bare": ""} {
		recorder.Begin(podOf(name, workload))
		recorder.Placed(podOf(name, workload), "n-"+name)
	}
	siblings := recorder.Siblings(podOf("a-1", "a"), 5)
	if len(siblings) != 1 || siblings[0].Name != "a-2" || siblings[0].Node != "n-a-2" {
		t.Errorf("siblings %+v", siblings)
	}
	if got := recorder.Siblings(podOf("bare", ""), 5); len(got) != 0 {
		t.Errorf("a bare pod has siblings %+v", got)
	}
}

func TestTheBestNodesAreThoseOfASortedList(t *testing.T) {
	recorder := New(DefaultBounds(), clock())
	rapid.Check(t, func(t *rapid.T) {
		scores := scoresOf(rapid.SliceOfN(rapid.Int64Range(0, 20), 0, 40).Draw(t, "totals")...)
		want := slices.Clone(scores)
		slices.SortStableFunc(want, func(a, b fwk.NodePluginScores) int { return int(b.TotalScore - a.TotalScore) })
		for i, got := range recorder.best(scores) {
			if got.Total != want[i].TotalScore || got.Node != want[i].Name {
				t.Fatalf("place %d: %+v, want %s with %d", i, got, want[i].Name, want[i].TotalScore)
			}
		}
	})
}

func TestMemoryIsBounded(t *testing.T) {
	recorder := New(DefaultBounds(), clock())
	for i := range 5 * recorder.bounds.Pods {
		pod := podOf(fmt.Sprint("p", i), "w")
		for range 6 {
			recorder.Begin(pod)
			recorder.Fail(pod, Failure{Outcome: Unschedulable, Message: strings.Repeat("m", 4096)})
		}
	}
	if recorder.recent.Len() != recorder.bounds.Pods || len(recorder.pods) != recorder.bounds.Pods {
		t.Errorf("%d records and %d pods, want %d", recorder.recent.Len(), len(recorder.pods), recorder.bounds.Pods)
	}
}

func BenchmarkAttempt(b *testing.B) {
	recorder, pod, scores := New(DefaultBounds(), time.Now), podOf("p", "w"), scoresOf(make([]int64, 400)...)
	for i := range scores {
		scores[i].TotalScore = int64(i * 7919 % 500)
	}
	b.ReportAllocs()
	for b.Loop() {
		recorder.Begin(pod)
		recorder.Scored(pod, scores)
		recorder.Placed(pod, "n7")
	}
}
