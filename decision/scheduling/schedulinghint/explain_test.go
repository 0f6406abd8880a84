package schedulinghint

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
)

// hinted is a pod with the hint of koord-manager.
func hinted(t *testing.T, hint extension.SchedulingHint, query extension.QueryHint) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "sql", Name: "trino-1"}}
	if err := extension.SetQueryHint(&hint, &query); err != nil {
		t.Fatal(err)
	}
	if err := extension.SetSchedulingHint(pod, &hint); err != nil {
		t.Fatal(err)
	}
	return pod
}

func TestExplain(t *testing.T) {
	at := metav1.NewTime(time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC).Local())
	with := func(annotation string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{extension.AnnotationSchedulingHint: annotation}}}
	}
	tests := map[string]struct {
		pod       *corev1.Pod
		want      *diagnosticsv1alpha1.PodHint
		wantCodes []string
	}{
		"no hint": {pod: &corev1.Pod{}},
		"a hint that came with the pod": {
			pod: with(`{"nodeNames":["a","b"],"preferredNodeNames":["b"]}`),
			want: &diagnosticsv1alpha1.PodHint{
				Summary: "a scheduling hint that koord-manager did not write restricts the pod to 2 nodes and prefers 1 node",
				Only:    []string{"a", "b"}, Preferred: []diagnosticsv1alpha1.HintedNode{{Node: "b"}},
			},
		},
		"a hint of koord-manager": {
			pod: hinted(t, extension.SchedulingHint{PreferredNodeNames: []string{"a", "b", "added"}}, extension.QueryHint{
				Writer: extension.QueryHintWriter, Engine: "trino", Role: "worker", Time: at,
				Nodes: []extension.QueryHintNode{{Name: "a", MemoryPercent: 41}, {Name: "b", Workers: 1, Caches: 2, MemoryPercent: 20, PredictedPercent: new(int32(35))}},
				LeftOut: []extension.QueryHintLeftOut{
					{Reason: "memory is hot: 80% or more is used", Count: 4, Nodes: []string{"h (90%)"}},
				},
			}),
			want: &diagnosticsv1alpha1.PodHint{
				Summary: "koord-manager's scheduling hint for this worker of engine trino prefers 3 nodes", Writer: "koord-manager", WrittenAt: &at,
				Preferred: []diagnosticsv1alpha1.HintedNode{
					{Node: "a", Message: "0 workers, 0 caches, 41% of memory used"},
					{Node: "b", Message: "1 worker, 2 caches, 20% of memory used, up to 35% predicted"}, {Node: "added"},
				},
				LeftOut: []diagnosticsv1alpha1.HintLeftOut{{Reason: "memory is hot: 80% or more is used", Count: 4, Nodes: []string{"h (90%)"}}},
			},
		},
		"a hint that prefers nothing, because all is hot": {
			pod: hinted(t, extension.SchedulingHint{}, extension.QueryHint{
				Writer: extension.QueryHintWriter, Engine: "trino", Role: "cache", Time: at, Reason: "all is hot", Code: string(finding.QueryHintHot),
			}),
			want: &diagnosticsv1alpha1.PodHint{
				Summary: "koord-manager's scheduling hint for this cache of engine trino prefers no node: all is hot", Writer: "koord-manager", WrittenAt: &at,
				Code: string(finding.QueryHintHot),
			},
			wantCodes: []string{string(finding.QueryHintHot)},
		},
		"a note that cannot be read is nobody's": {
			pod:  with(`{"preferredNodeNames":["b"],"extensions":{"query":[1]}}`),
			want: &diagnosticsv1alpha1.PodHint{Summary: "a scheduling hint that koord-manager did not write prefers 1 node", Preferred: []diagnosticsv1alpha1.HintedNode{{Node: "b"}}},
		},
		"a code that does not belong to hints is no finding": {
			pod: hinted(t, extension.SchedulingHint{}, extension.QueryHint{Writer: extension.QueryHintWriter, Engine: "e", Role: "r", Time: at, Code: "KOORD1201"}),
			want: &diagnosticsv1alpha1.PodHint{
				Summary: "koord-manager's scheduling hint for this r of engine e prefers no node", Writer: "koord-manager", WrittenAt: &at, Code: "KOORD1201",
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := Explain(test.pod, at.Add(Lasting))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("explanation (-want +got):\n%s", diff)
			}
			var codes []string
			for _, each := range Findings(test.pod, got) {
				codes = append(codes, each.Code)
			}
			if diff := cmp.Diff(test.wantCodes, codes); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			late := Explain(test.pod, at.Add(Lasting+time.Second))
			if expires := got != nil && got.Writer != "" && len(got.Preferred) > 0; expires != (late != nil && strings.HasSuffix(late.Summary, "does not count anymore")) {
				t.Errorf("of an old hint it is said: %+v", late)
			}
			bound := test.pod.DeepCopy()
			bound.Spec.NodeName = "b"
			if found := Findings(bound, got); len(found) > 0 {
				t.Errorf("of a pod that runs: %v", found)
			}
		})
	}
}

func TestGarbageIsExplained(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{extension.AnnotationSchedulingHint: `]`}}}
	got := Explain(pod, time.Time{})
	if got == nil || got.Code != string(finding.SchedulingHintInvalid) || !strings.HasPrefix(got.Summary, "the scheduling hint cannot be read: decode annotation") {
		t.Errorf("got %+v", got)
	}
	if found := Findings(pod, got); len(found) > 0 {
		t.Errorf("the refusal says it already: %v", found)
	}
}

func FuzzExplain(f *testing.F) {
	f.Add(`{"nodeNames":["a"],"preferredNodeNames":["b"],"extensions":{"query":{"writer":"koord-manager","nodes":[{"name":"b"}]}}}`)
	f.Fuzz(func(t *testing.T, value string) {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{extension.AnnotationSchedulingHint: value}}}
		if got := Explain(pod, time.Now()); got != nil && (got.Summary == "" || len(got.Only) > listed || len(got.Preferred) > listed) {
			t.Errorf("got %+v", got)
		}
	})
}
