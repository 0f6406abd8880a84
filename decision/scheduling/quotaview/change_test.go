package quotaview

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/quota"
)

// cpu edits the CPUs of a quota.
func cpu(n int64) map[corev1.ResourceName]*resource.Quantity {
	return map[corev1.ResourceName]*resource.Quantity{corev1.ResourceCPU: resource.NewQuantity(n, resource.DecimalSI)}
}

func TestForecastsOfQuotas(t *testing.T) {
	objects := func() []schedulingsigsv1alpha1.ElasticQuota {
		return []schedulingsigsv1alpha1.ElasticQuota{object("web", "", 20, 60), object("batch", "", 40, 80)}
	}
	pods := []corev1.Pod{pod("web-1", "web", "n1", 50), pod("web-2", "web", "", 15), pod("job-1", "batch", "n1", 30), pod("job-2", "batch", "", 9)}
	revoking := &quota.Args{MonitorAllQuotas: new(true), DelayEvictTime: &metav1.Duration{Duration: time.Minute}}
	quota.SetDefaults(revoking)
	tests := []struct {
		name         string
		at           int
		edits        Edits
		args         *quota.Args
		unseen       bool
		refused      bool
		wantVerdict  diagnosticsv1alpha1.QuotaForecastVerdict
		wantMessage  string
		wantQuotas   []string
		wantAdmitted []string
		wantRefused  []string
		wantNotes    int
		wantCodes    []string
	}{
		{
			name: "a larger max lets a pod in", at: 0, edits: Edits{Max: cpu(70)},
			wantVerdict: diagnosticsv1alpha1.QuotaForecastChanges, wantMessage: "the runtime of 1 quota changes; more fit into their quotas: 1 waiting pod",
			wantQuotas: []string{"web cpu 60 -> 65, used 50"}, wantAdmitted: []string{"web-2"}, wantNotes: 1,
		},
		{
			name: "a smaller max keeps a pod out, and more is used than is left", at: 1, edits: Edits{Min: cpu(20), Max: cpu(25)}, args: revoking,
			wantVerdict: diagnosticsv1alpha1.QuotaForecastChanges,
			wantMessage: "the runtime of 1 quota changes; no longer fit into their quotas: 1 waiting pod; more used than the runtime: batch",
			wantQuotas:  []string{"batch cpu 39 -> 25, used 30"}, wantRefused: []string{"job-2"}, wantNotes: 2, wantCodes: []string{"KOORD1211"},
		},
		{
			name: "a max that is there already", at: 0, edits: Edits{Max: cpu(60)},
			wantVerdict: diagnosticsv1alpha1.QuotaForecastUnchanged, wantMessage: "no runtime changes",
		},
		{
			name: "what koord-manager refuses is forecast all the same", at: 0, edits: Edits{Max: cpu(70)}, refused: true,
			wantVerdict: diagnosticsv1alpha1.QuotaForecastRefused, wantMessage: "koord-manager refuses the change of quota teams/web",
			wantQuotas: []string{"web cpu 60 -> 65, used 50"}, wantAdmitted: []string{"web-2"}, wantNotes: 1, wantCodes: []string{"KOORD1210"},
		},
		{
			name: "where pods cannot be read, what follows is unknown", at: 0, edits: Edits{Max: cpu(70)}, unseen: true,
			wantVerdict: diagnosticsv1alpha1.QuotaForecastUnknown, wantMessage: "koord-manager allows the change of quota teams/web; what follows from it is unknown",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := inputFor(tt.at, 120, objects(), pods...)
			in.Args, in.Unseen = tt.args, tt.unseen
			to, made, err := tt.edits.Apply(&in.Objects[tt.at])
			if err != nil {
				t.Fatal(err)
			}
			change := Change{Input: in, To: to, Edits: made, Refused: tt.refused}
			if tt.refused {
				change.Findings = []diagnosticsv1alpha1.Finding{{Code: "KOORD1210"}}
			}
			got := Forecast(change)
			if got.Verdict != tt.wantVerdict || got.Message != tt.wantMessage || len(got.Notes) != tt.wantNotes {
				t.Errorf("%s: %s, notes %q; want %s: %s and %d notes", got.Verdict, got.Message, got.Notes, tt.wantVerdict, tt.wantMessage, tt.wantNotes)
			}
			var quotas, codes []string
			for _, q := range got.Quotas {
				quotas = append(quotas, fmt.Sprintf("%s %s %d -> %d, used %d", q.Quota, q.Resource, q.RuntimeBefore/1000, q.RuntimeAfter/1000, q.Used/1000))
			}
			for _, found := range got.Findings {
				codes = append(codes, found.Code)
			}
			for what, diff := range map[string]string{
				"quotas": cmp.Diff(tt.wantQuotas, quotas), "findings": cmp.Diff(tt.wantCodes, codes),
				"admitted": cmp.Diff(tt.wantAdmitted, namesOf(got.Admitted)), "refused": cmp.Diff(tt.wantRefused, namesOf(got.Refused)),
			} {
				if diff != "" {
					t.Errorf("%s (-want +got):\n%s", what, diff)
				}
			}
		})
	}
}

func namesOf(pods []diagnosticsv1alpha1.ChangedPod) []string {
	var names []string
	for _, p := range pods {
		names = append(names, p.Name)
	}
	return names
}

// TestForecastsAreExplanationsOfTheChangedQuotas: what a change leads to is what the quota is explained to have once it was made, and a
// change of nothing changes nothing.
func TestForecastsAreExplanationsOfTheChangedQuotas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		objects, pods := drawQuotas(t)
		total := rapid.Int64Range(0, 60).Draw(t, "total")
		at := rapid.IntRange(0, len(objects)-1).Draw(t, "changed")
		most := rapid.Int64Range(0, 40).Draw(t, "new max")
		to, made, err := Edits{Min: cpu(rapid.Int64Range(0, most).Draw(t, "new min")), Max: cpu(most)}.Apply(&objects[at])
		if err != nil {
			t.Fatal(err)
		}
		in := inputFor(at, total, objects, pods...)
		if got := Forecast(Change{Input: in, To: &objects[at]}); len(got.Quotas)+len(got.Admitted)+len(got.Refused) > 0 {
			t.Fatalf("without a change: %+v", got)
		}
		got := Forecast(Change{Input: in, To: to, Edits: made})
		changed := append([]schedulingsigsv1alpha1.ElasticQuota{}, objects...)
		changed[at] = *to
		for i := range objects {
			before, after := Explain(inputFor(i, total, objects, pods...)).Divisions[0], Explain(inputFor(i, total, changed, pods...)).Divisions[0]
			want := []int64{before.Runtime, after.Runtime}
			if is := runtimesIn(got, objects[i].Name, before.Runtime); !cmp.Equal(want, is) {
				t.Fatalf("runtime of %s before and after %v, want %v", objects[i].Name, is, want)
			}
		}
	})
}

// runtimesIn are the runtimes of a quota before and after; those from before where it is not listed.
func runtimesIn(f *diagnosticsv1alpha1.QuotaForecast, name string, unlisted int64) []int64 {
	for i := range f.Quotas {
		if f.Quotas[i].Quota == name {
			return []int64{f.Quotas[i].RuntimeBefore, f.Quotas[i].RuntimeAfter}
		}
	}
	return []int64{unlisted, unlisted}
}

func TestEditsOfQuotas(t *testing.T) {
	q := object("web", "", 20, 60)
	q.Spec.Max["memory"] = resource.MustParse("1Gi")
	edits := Edits{
		Min: cpu(20), Max: map[corev1.ResourceName]*resource.Quantity{"memory": nil, "example.com/gpu": resource.NewQuantity(8, resource.DecimalSI), "absent": nil},
		SharedWeight: cpu(5),
	}
	to, made, err := edits.Apply(&q)
	if err != nil {
		t.Fatal(err)
	}
	weight := "annotations[" + extension.AnnotationQuotaSharedWeight + "][cpu]"
	want := []diagnosticsv1alpha1.QuotaEdit{
		{Field: "spec.max[example.com/gpu]", After: "8"}, {Field: "spec.max[memory]", Before: "1Gi"}, {Field: weight, Before: "60", After: "5"},
	}
	if diff := cmp.Diff(want, made); diff != "" {
		t.Errorf("edits (-want +got):\n%s", diff)
	}
	if got := to.Annotations[extension.AnnotationQuotaSharedWeight]; got != `{"cpu":"5","memory":"1Gi"}` {
		t.Errorf("weights %s, want those from before for what is not edited", got)
	}
	if len(q.Annotations) > 0 || len(q.Spec.Max) != 2 {
		t.Errorf("the quota itself was changed: %+v", q)
	}
}
