package recommendationview

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	analysisv1alpha1 "koordinator.sh/koord/api/analysis/v1alpha1"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/noderesource/recommend"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

const mebi = 1 << 20

func list(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
}

func pod(name, cpu, memory string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: name, UID: types.UID(name), Labels: map[string]string{"app": "web"},
			OwnerReferences: []metav1.OwnerReference{{Kind: "StatefulSet", Name: "web", Controller: new(true)}},
		},
		Spec: corev1.PodSpec{NodeName: "n", Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: list(cpu, memory)}}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{
			Name: "main", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}, Resources: &corev1.ResourceRequirements{Requests: list(cpu, memory)},
		}}},
	}
}

// learned is a Recommendation whose container used 1 core and 1000 MiB for so many hours.
func learned(t testing.TB, hours int, edit ...func(*analysisv1alpha1.Recommendation)) *analysisv1alpha1.Recommendation {
	t.Helper()
	c := recommend.NewContainer()
	for minute := range hours * 60 {
		c.AddUsage(noon.Add(time.Duration(minute-hours*60+1)*time.Minute), 1, 1000*mebi, time.Minute)
	}
	checkpoint, err := c.Checkpoint("main")
	if err != nil {
		t.Fatal(err)
	}
	advised := c.Recommend(recommend.DefaultOptions(), 1, noon, nil)
	names := recommend.Names{CPU: corev1.ResourceCPU, Memory: corev1.ResourceMemory}
	r := &analysisv1alpha1.Recommendation{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", Annotations: map[string]string{analysisv1alpha1.AnnotationRecommendationApply: "in-place"}},
		Spec: analysisv1alpha1.RecommendationSpec{Target: analysisv1alpha1.RecommendationTarget{
			Type: analysisv1alpha1.RecommendationTargetWorkload, Workload: &analysisv1alpha1.CrossVersionObjectReference{Kind: "StatefulSet", Name: "web"},
		}},
		Status: analysisv1alpha1.RecommendationStatus{
			UpdateTime: &metav1.Time{Time: noon},
			Checkpoint: &analysisv1alpha1.RecommendationCheckpoint{Containers: []analysisv1alpha1.ContainerCheckpoint{checkpoint}},
			PodStatus: &analysisv1alpha1.RecommendedPodStatus{ContainerStatuses: []analysisv1alpha1.RecommendedContainerStatus{{
				ContainerName: "main", Resources: names.List(advised.CPU.Target, advised.Memory.Target),
				LowerBound: names.List(advised.CPU.Lower, advised.Memory.Lower), UpperBound: names.List(advised.CPU.Upper, advised.Memory.Upper),
			}}},
		},
	}
	for _, e := range edit {
		e(r)
	}
	return r
}

func explain(r *analysisv1alpha1.Recommendation, pods ...*corev1.Pod) diagnosticsv1alpha1.RecommendationExplanation {
	return Explain(Input{Now: noon, Recommendation: r, Pods: pods, Options: recommend.DefaultOptions(), Resizes: recommend.DefaultResizeOptions()})
}

func TestStatesOfApplying(t *testing.T) {
	applied := func(ago time.Duration, pods ...string) func(*analysisv1alpha1.Recommendation) {
		return func(r *analysisv1alpha1.Recommendation) {
			for _, name := range pods {
				r.Status.Checkpoint.Applied = append(r.Status.Checkpoint.Applied, analysisv1alpha1.AppliedResize{PodUID: types.UID(name), Time: metav1.NewTime(noon.Add(-ago))})
			}
		}
	}
	off := func(r *analysisv1alpha1.Recommendation) { r.Annotations = nil }
	large, right := pod("large", "4", "1200Mi"), pod("right", "1300m", "1300Mi")
	oldNode := pod("old-node", "4", "1200Mi")
	oldNode.Status.ContainerStatuses[0].Resources = nil
	tests := map[string]struct {
		recommendation *analysisv1alpha1.Recommendation
		pods           []*corev1.Pod
		wantState      diagnosticsv1alpha1.ApplicationState
		wantMessage    string
		wantReasons    map[string]string
		wantUntil      time.Duration
	}{
		"all is within the bounds": {learned(t, 48), []*corev1.Pod{right}, diagnosticsv1alpha1.ApplicationSettled, "the requests of all pods are within the bounds", map[string]string{}, 0},
		"a pod asks for too much": {
			learned(t, 48), []*corev1.Pod{large, right}, diagnosticsv1alpha1.ApplicationDue,
			"1 pod would be resized within a minute, if koord-manager runs with --recommender-apply", map[string]string{"large": ""}, 0,
		},
		"nobody asks for it": {
			learned(t, 48, off), []*corev1.Pod{large}, diagnosticsv1alpha1.ApplicationOff,
			"annotation analysis.koordinator.sh/apply is not in-place; 1 pod would be resized", map[string]string{"large": ""}, 0,
		},
		"nobody asks for it, and nothing is to be done": {
			learned(t, 48, off), []*corev1.Pod{right}, diagnosticsv1alpha1.ApplicationOff, "annotation analysis.koordinator.sh/apply is not in-place", map[string]string{}, 0,
		},
		"the pod was resized lately": {
			learned(t, 48, applied(20*time.Minute, "large")), []*corev1.Pod{large}, diagnosticsv1alpha1.ApplicationBlocked,
			"no pod is resized; 1 pod: it was resized lately", map[string]string{"large": recommend.SkipCoolDown}, 40 * time.Minute,
		},
		"the budget is used up": {
			learned(t, 48, applied(4*time.Minute, "right"), applied(8*time.Minute, "gone")), []*corev1.Pod{large, pod("right", "9", "1200Mi")}, diagnosticsv1alpha1.ApplicationBlocked,
			"no pod is resized; 1 pod: it was resized lately; 1 pod: the budget is used up", map[string]string{"large": recommend.SkipBudget, "right": recommend.SkipCoolDown}, 6 * time.Minute,
		},
		"less than a day was observed": {
			learned(t, 3), []*corev1.Pod{large}, diagnosticsv1alpha1.ApplicationBlocked,
			"no pod is resized; 1 pod: its usage was observed for less than a day", map[string]string{"large": recommend.SkipUncertainty}, 0,
		},
		"the node cannot": {
			learned(t, 48), []*corev1.Pod{oldNode}, diagnosticsv1alpha1.ApplicationBlocked,
			"no pod is resized; 1 pod: its node cannot resize pods", map[string]string{"old-node": recommend.SkipNode}, 0,
		},
		"no pod is there": {learned(t, 48), nil, diagnosticsv1alpha1.ApplicationUnknown, "no pod of the target is bound to a node", map[string]string{}, 0},
		"nothing was learned": {
			learned(t, 0), []*corev1.Pod{large}, diagnosticsv1alpha1.ApplicationUnknown, "there is nothing to apply yet", map[string]string{}, 0,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := explain(tc.recommendation, tc.pods...).Application
			if got.State != tc.wantState || got.Message != tc.wantMessage {
				t.Errorf("got %s: %s\nwant %s: %s", got.State, got.Message, tc.wantState, tc.wantMessage)
			}
			reasons := map[string]string{}
			for _, pod := range got.Pods {
				reasons[pod.Name] = pod.Reason
				if pod.Reason == tc.wantReasons[pod.Name] && pod.Name == "large" && tc.wantUntil > 0 && (pod.Until == nil || pod.Until.Sub(noon) != tc.wantUntil) {
					t.Errorf("it ends at %v, want in %s", pod.Until, tc.wantUntil)
				}
			}
			if diff := cmp.Diff(tc.wantReasons, reasons); diff != "" {
				t.Errorf("unexpected reasons (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFiguresOfAContainer(t *testing.T) {
	got := explain(learned(t, 48), pod("large", "4", "1200Mi"), pod("small", "500m", "1200Mi"), pod("elsewhere", "1", "1Gi"))
	if *got.Pods != 3 || got.Target != "StatefulSet/web" || len(got.Containers) != 1 || len(got.Incomplete) != 0 {
		t.Fatalf("got %+v", got)
	}
	c := got.Containers[0]
	if c.Tier != "plain" || *c.CPU.Requested != 4000 || *c.CPU.RequestedLeast != 500 {
		t.Errorf("got %+v, want requests from 500 to 4000", c)
	}
	if want := 5500 - 3**c.CPU.Target; *c.CPU.Savings != want {
		t.Errorf("saves %d, want %d", *c.CPU.Savings, want)
	}
	if *c.CPU.Lower > *c.CPU.Target || *c.CPU.Target > *c.CPU.Upper {
		t.Errorf("bounds %d, %d, %d are out of order", *c.CPU.Lower, *c.CPU.Target, *c.CPU.Upper)
	}
	var names []string
	for _, term := range c.Memory.Terms {
		names = append(names, term.Name+" "+string(term.Operator)+" "+string(term.Unit))
	}
	if diff := cmp.Diff([]string{"percentile start bytes", "margin times percent", "minimum max bytes"}, names); diff != "" {
		t.Errorf("unexpected terms (-want +got):\n%s", diff)
	}
	if c.LastOOMAt != nil || c.FirstSampleAt == nil || *c.ConfidenceSeconds < 24*60*60 {
		t.Errorf("got %+v", c)
	}
}

func TestAJobIsRecommendedByItsRuns(t *testing.T) {
	ofRuns := func(runs int64) func(*analysisv1alpha1.Recommendation) {
		return func(r *analysisv1alpha1.Recommendation) {
			r.Status.Checkpoint.Containers[0].Job = &analysisv1alpha1.JobCheckpoint{
				Runs: runs, Basis: "application", CPU: analysisv1alpha1.JobBounds{Lower: 900, Target: 1100, Upper: 1300},
				Memory: analysisv1alpha1.JobBounds{Lower: 900 * mebi, Target: 1100 * mebi, Upper: 1300 * mebi},
			}
		}
	}
	got := explain(learned(t, 3, ofRuns(19)), pod("a", "4", "1Gi"))
	c := got.Containers[0]
	if c.Runs == nil || *c.Runs != 19 || got.Application.State != diagnosticsv1alpha1.ApplicationDue {
		t.Errorf("runs %v, %s, want 19 that suffice to apply after 3 hours", c.Runs, got.Application.State)
	}
	want := []diagnosticsv1alpha1.Term{
		{Name: "formerRuns", Operator: diagnosticsv1alpha1.Start, Unit: diagnosticsv1alpha1.Bytes, Value: 1100 * mebi,
			Note: "the 98th percentile of the peak memory of a run, predicted from 19 runs of the same application"},
		{Name: "minimum", Operator: diagnosticsv1alpha1.Max, Unit: diagnosticsv1alpha1.Bytes, Value: 250 * mebi, Note: "the least that its part of a pod gets"},
	}
	if diff := cmp.Diff(want, c.Memory.Terms); diff != "" {
		t.Errorf("terms of memory (-want +got):\n%s", diff)
	}
	few := explain(learned(t, 48, ofRuns(9)), pod("a", "4", "1Gi")).Application
	if want := "no pod is resized; 1 pod: " + recommend.SkipFewRuns; few.State != diagnosticsv1alpha1.ApplicationBlocked || few.Message != want {
		t.Errorf("%s: %s after 9 runs, want it blocked: %s", few.State, few.Message, want)
	}
}

func TestWhatIsMissingIsTold(t *testing.T) {
	upstream := explain(learned(t, 48, func(r *analysisv1alpha1.Recommendation) { r.Status.Checkpoint = nil }), pod("large", "4", "1Gi"))
	if len(upstream.Incomplete) != 1 || upstream.Containers[0].CPU.Target == nil || upstream.Containers[0].CPU.Terms != nil {
		t.Errorf("without a checkpoint: %+v", upstream)
	}
	unseen := Explain(Input{Now: noon, Recommendation: learned(t, 48), Unseen: "list pods: not permitted", Options: recommend.DefaultOptions(), Resizes: recommend.DefaultResizeOptions()})
	if unseen.Pods != nil || unseen.Application.State != diagnosticsv1alpha1.ApplicationUnknown || len(unseen.Incomplete) != 1 {
		t.Errorf("without pods: %+v", unseen)
	}
	broken := explain(learned(t, 48, func(r *analysisv1alpha1.Recommendation) { r.Status.Checkpoint.Containers[0].CPU = []byte{1} }))
	if len(broken.Incomplete) != 1 {
		t.Errorf("with a broken checkpoint: %+v", broken)
	}
}

func TestPodsOfATarget(t *testing.T) {
	gone, pending, other, foreign := pod("gone", "1", "1Gi"), pod("pending", "1", "1Gi"), pod("other", "1", "1Gi"), pod("foreign", "1", "1Gi")
	gone.DeletionTimestamp = &metav1.Time{Time: noon}
	pending.Spec.NodeName = ""
	other.OwnerReferences[0].Name, other.Labels = "db", nil
	foreign.Namespace = "spark"
	pods := []*corev1.Pod{pod("b", "1", "1Gi"), pod("a", "1", "1Gi"), gone, pending, other, foreign}
	selects := func(target analysisv1alpha1.RecommendationTarget) []string {
		r := learned(t, 0)
		r.Spec.Target = target
		var names []string
		for _, pod := range PodsOf(r, pods) {
			names = append(names, pod.Name)
		}
		return names
	}
	workload := learned(t, 0).Spec.Target
	selector := analysisv1alpha1.RecommendationTarget{Type: analysisv1alpha1.RecommendationTargetPodSelector, PodSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}
	invalid := analysisv1alpha1.RecommendationTarget{Type: analysisv1alpha1.RecommendationTargetPodSelector, PodSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Near"}}}}
	for name, tc := range map[string]struct {
		target analysisv1alpha1.RecommendationTarget
		want   []string
	}{"a workload": {workload, []string{"a", "b"}}, "a selector": {selector, []string{"a", "b"}}, "no selector": {analysisv1alpha1.RecommendationTarget{}, nil}, "one that cannot be read": {invalid, nil}} {
		if diff := cmp.Diff(tc.want, selects(tc.target)); diff != "" {
			t.Errorf("%s selects (-want +got):\n%s", name, diff)
		}
	}
}

func TestWhatItAnswersIsWhatTheRecommenderDoes(t *testing.T) {
	r := learned(t, 48)
	rapid.Check(t, func(t *rapid.T) {
		var pods []*corev1.Pod
		for range rapid.IntRange(0, 30).Draw(t, "pods") {
			pods = append(pods, pod(rapid.StringMatching("[a-z]{8}").Draw(t, "name"), rapid.SampledFrom([]string{"100m", "1150m", "7"}).Draw(t, "cpu"), "1200Mi"))
		}
		recalled, _ := recommend.ReadCheckpoint(r)
		chosen := PodsOf(r, pods)
		plan := recommend.Resizes(recommend.ResizeInput{
			At: noon, Options: recommend.DefaultResizeOptions(), Pods: chosen, Recommendations: recalled.Advise(recommend.DefaultOptions(), 1, noon), Applied: recalled.Applied,
		})
		var want, got []string
		for _, resize := range plan.Resizes {
			want = append(want, resize.Pod.Name)
		}
		for _, each := range explain(r, pods...).Application.Pods {
			if each.Reason == "" {
				got = append(got, each.Name)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("resized (-want +got):\n%s", diff)
		}
	})
}

func TestWhatIsLeftToAutoscalersIsTold(t *testing.T) {
	autoscalers := recommend.Autoscalers{{Kind: "StatefulSet", Name: "web"}: {
		{Kind: recommend.KindVertical, Name: "by-usage", Resources: map[string][]corev1.ResourceName{"": {corev1.ResourceCPU, corev1.ResourceMemory}}},
	}}
	const (
		sets     = `VerticalPodAutoscaler "by-usage" sets cpu and memory`
		unknown  = "which resources VerticalPodAutoscalers set is unknown"
		reported = "Autoscaled: not resized: as koord-manager saw it"
	)
	known := func(r *analysisv1alpha1.Recommendation) {
		r.Status.Conditions = []metav1.Condition{{
			Type: analysisv1alpha1.RecommendationConditionAutoscaled, Status: metav1.ConditionTrue, Message: "not resized: as koord-manager saw it",
		}}
	}
	tests := map[string]struct {
		in             Input
		wantState      diagnosticsv1alpha1.ApplicationState
		wantMessage    string
		wantNotes      []string
		wantIncomplete []string
	}{
		"all is known, and the condition is older": {
			in:        Input{Autoscalers: autoscalers},
			wantState: diagnosticsv1alpha1.ApplicationBlocked, wantMessage: "no pod is resized; 1 pod: " + sets, wantNotes: []string{"Autoscaled: not resized: " + sets},
		},
		"the autoscaler is gone": {
			wantState: diagnosticsv1alpha1.ApplicationDue, wantMessage: "1 pod would be resized within a minute, if koord-manager runs with --recommender-apply",
		},
		"not all are known": {
			in:        Input{AutoscalersUnseen: []string{unknown}},
			wantState: diagnosticsv1alpha1.ApplicationDue, wantMessage: "1 pod would be resized within a minute, if koord-manager runs with --recommender-apply",
			wantNotes: []string{reported}, wantIncomplete: []string{unknown},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := test.in
			in.Now, in.Recommendation, in.Pods = noon, learned(t, 72, known), []*corev1.Pod{pod("large", "4", "1200Mi")}
			in.Options, in.Resizes = recommend.DefaultOptions(), recommend.DefaultResizeOptions()
			got := Explain(in)
			if got.Application.State != test.wantState || got.Application.Message != test.wantMessage {
				t.Errorf("application %s: %s, want %s: %s", got.Application.State, got.Application.Message, test.wantState, test.wantMessage)
			}
			if diff := cmp.Diff(test.wantNotes, got.Notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.wantIncomplete, got.Incomplete); diff != "" {
				t.Errorf("incomplete (-want +got):\n%s", diff)
			}
		})
	}
}
