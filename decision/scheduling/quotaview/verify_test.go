package quotaview

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/quota"
)

// published is a quota with the figures of its CPUs.
func published(of *schedulingsigsv1alpha1.ElasticQuota, used, request, runtime int64) Quota {
	spec, _ := quota.Decode(of)
	amounts := func(n int64) quota.Amounts { return quota.AmountsOf(cpus(n)) }
	return Quota{Spec: spec, Used: amounts(used), Request: amounts(request), Runtime: amounts(runtime)}
}

func differenceLines(v *diagnosticsv1alpha1.QuotaVerification) []string {
	text := func(v *int64) string {
		if v == nil {
			return "-"
		}
		return fmt.Sprint(*v / 1000)
	}
	var lines []string
	for i := range v.Differences {
		d := &v.Differences[i]
		lines = append(lines, fmt.Sprintf("%s %s %s %s %s", d.Quota, d.Figure, d.Resource, text(d.Published), text(d.Computed)))
	}
	return lines
}

// TestPublishedFiguresAreVerified: of 60 CPUs, batch and web divide what is over their mins of 20 and 10.
func TestPublishedFiguresAreVerified(t *testing.T) {
	objects := []schedulingsigsv1alpha1.ElasticQuota{object("web", "", 20, 60), object("batch", "", 10, 40)}
	pods := []corev1.Pod{pod("web-1", "web", "n1", 15), pod("web-2", "web", "", 3), pod("job-1", "batch", "n1", 12)}
	web, batch := published(&objects[0], 15, 18, 18), published(&objects[1], 12, 12, 12)
	with := func(q Quota, change func(*Quota)) Quota {
		change(&q)
		return q
	}
	tests := map[string]struct {
		quotas      []Quota
		unseen      bool
		wantVerdict diagnosticsv1alpha1.QuotaVerdict
		wantMessage string
		want        []string
		wantFinding string
	}{
		"all follow": {
			quotas: []Quota{web, batch}, wantVerdict: diagnosticsv1alpha1.QuotaAgrees, wantMessage: "what is published of 2 quotas follows from the pods and nodes",
		},
		"one figure of one quota": {
			quotas: []Quota{with(web, func(q *Quota) { q.Used = quota.AmountsOf(cpus(50)) }), batch}, wantVerdict: diagnosticsv1alpha1.QuotaDiffers,
			wantMessage: "what is published of 1 of 2 quotas does not follow from the pods and nodes as they are now", want: []string{"web used cpu 50 15"},
			wantFinding: "quota web: used of cpu is published as 50, and 15 follows from the pods and nodes",
		},
		"nothing is published": {
			quotas: []Quota{with(batch, func(q *Quota) { q.Used, q.Request, q.Runtime = nil, nil, nil })}, wantVerdict: diagnosticsv1alpha1.QuotaDiffers,
			wantMessage: "what is published of 1 of 1 quota does not follow from the pods and nodes as they are now",
			want:        []string{"batch request cpu - 12", "batch runtime cpu - 12", "batch used cpu - 12"},
			wantFinding: "quota batch: request of cpu is published as <none>, and 12 follows from the pods and nodes; 2 more figures",
		},
		"a resource that the quota does not limit": {
			quotas: []Quota{with(web, func(q *Quota) {
				q.Runtime = append(q.Runtime, quota.AmountsOf(corev1.ResourceList{"example.com/gpu": cpus(3)["cpu"]})...)
			})}, wantVerdict: diagnosticsv1alpha1.QuotaDiffers,
			wantMessage: "what is published of 1 of 1 quota does not follow from the pods and nodes as they are now", want: []string{"web runtime example.com/gpu 0 -"},
			wantFinding: "quota web: runtime of example.com/gpu is published as 3, and <none> follows from the pods and nodes",
		},
		"nothing of a resource is as good as not published": {
			quotas: []Quota{with(web, func(q *Quota) {
				q.Used = append(q.Used, quota.AmountsOf(corev1.ResourceList{"example.com/gpu": cpus(0)["cpu"]})...)
			})}, wantVerdict: diagnosticsv1alpha1.QuotaAgrees, wantMessage: "what is published of 1 quota follows from the pods and nodes",
		},
		"another quota of the same name does not count": {
			quotas: []Quota{batch, with(web, func(q *Quota) { q.Namespace, q.Used = "elsewhere", nil })}, wantVerdict: diagnosticsv1alpha1.QuotaAgrees,
			wantMessage: "what is published of 1 quota follows from the pods and nodes",
		},
		"what cannot be read": {
			quotas: []Quota{web}, unseen: true, wantVerdict: diagnosticsv1alpha1.QuotaUnverified, wantMessage: "what follows from the pods and nodes is unknown",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := inputFor(0, 60, objects, pods...)
			in.Unseen = tc.unseen
			got := Verify(in, tc.quotas)
			if got.Verdict != tc.wantVerdict || got.Message != tc.wantMessage {
				t.Errorf("%s: %s, want %s: %s", got.Verdict, got.Message, tc.wantVerdict, tc.wantMessage)
			}
			if diff := cmp.Diff(tc.want, differenceLines(got)); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
			if finding := ""; len(got.Findings) > 0 || tc.wantFinding != "" {
				if len(got.Findings) == 1 {
					finding = got.Findings[0].Message
				}
				if diff := cmp.Diff(tc.wantFinding, finding); diff != "" {
					t.Errorf("finding (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// TestTheRootIsVerified with the pods of the built-in quotas, which its runtime is what is left by.
func TestTheRootIsVerified(t *testing.T) {
	objects := []schedulingsigsv1alpha1.ElasticQuota{object(extension.RootQuotaName, "", 0, 0), object("web", "", 20, 60)}
	pods := []corev1.Pod{pod("web-1", "web", "n1", 15), pod("other", "", "n1", 5)}
	root := published(&objects[0], 20, 15, 55)
	if got := Verify(inputFor(0, 60, objects, pods...), []Quota{root}); got.Verdict != diagnosticsv1alpha1.QuotaAgrees {
		t.Errorf("%s: %v", got.Verdict, differenceLines(got))
	}
}

// TestWhatExplanationsComputeIsVerified: the runtime and the use that an explanation computes are those that a verification expects.
func TestWhatExplanationsComputeIsVerified(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		objects, pods := drawQuotas(t)
		total := rapid.Int64Range(0, 60).Draw(t, "total")
		for at := range objects {
			division := &Explain(inputFor(at, total, objects, pods...)).Divisions[0]
			spec, _ := quota.Decode(&objects[at])
			q := Quota{Spec: spec, Used: quota.Amounts{{Resource: "cpu", Value: division.Used}}, Runtime: quota.Amounts{{Resource: "cpu", Value: division.Runtime}}}
			for _, d := range Verify(inputFor(at, total, objects, pods...), []Quota{q}).Differences {
				if d.Figure != diagnosticsv1alpha1.QuotaFigureRequest { // which explanations say nothing of
					t.Fatalf("%s of %s is explained as %v, and verified as %v", d.Figure, d.Quota, d.Published, d.Computed)
				}
			}
		}
	})
}
