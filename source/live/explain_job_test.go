package live

import (
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/scheduling/kueueview"
	"koordinator.sh/koord/source"
)

func TestAJobIsExplained(t *testing.T) {
	job := func(suspended bool, labels map[string]string) *batchv1.JobList {
		return &batchv1.JobList{Items: []batchv1.Job{{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "train", UID: "1", Labels: labels},
			Spec:       batchv1.JobSpec{Suspend: &suspended, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"job": "train"}}},
		}}}
	}
	inQueue := map[string]string{kueueview.QueueLabel: "jobs"}
	tests := map[string]struct {
		cluster        *clusterBuilder
		name           string
		wantState      diagnosticsv1alpha1.JobState
		wantHeldBy     string
		wantIncomplete bool
		wantError      finding.Code
		wantAsked      bool
	}{
		"held by Kueue": {cluster: makeCluster().queue("1").list("jobs", job(true, inQueue)), wantState: diagnosticsv1alpha1.JobSuspended, wantHeldBy: "Kueue", wantAsked: true},
		"suspended without a queue": {
			cluster: makeCluster().queue("2").list("jobs", job(true, nil)), wantState: diagnosticsv1alpha1.JobSuspended, wantAsked: true,
		},
		"suspended, without permission for Workloads": {
			cluster:   makeCluster().queue("1").list("jobs", job(true, inQueue)).denied("list workloads"),
			wantState: diagnosticsv1alpha1.JobSuspended, wantIncomplete: true, wantAsked: true,
		},
		"a pod waits for a node": {
			cluster: makeCluster().list("jobs", job(false, nil)).node("node-1").pod("ml", "train-0", "", "64", func(p *corev1.Pod) {
				p.Labels, p.Spec.SchedulerName = map[string]string{"job": "train"}, "koord-scheduler"
			}), wantState: diagnosticsv1alpha1.JobWaiting, wantHeldBy: "koord-scheduler", wantIncomplete: true, // of what only the scheduler can judge
		},
		"its pods run": {
			cluster: makeCluster().list("jobs", job(false, nil)).pod("ml", "train-0", "node-1", "1", func(p *corev1.Pod) {
				p.Labels = map[string]string{"job": "train"}
			}), wantState: diagnosticsv1alpha1.JobRunning,
		},
		"no permission for pods": {
			cluster: makeCluster().list("jobs", job(false, nil)).denied("list pods"), wantState: diagnosticsv1alpha1.JobStarting, wantIncomplete: true,
		},
		"not found": {cluster: makeCluster().list("jobs", job(false, nil)), name: "trian", wantError: finding.NotFound},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var explainer source.JobExplainer = tc.cluster.source(t)
			asked := tc.name
			if asked == "" {
				asked = "train"
			}
			answer, err := explainer.ExplainJob(t.Context(), "ml", asked)
			if tc.wantError != "" {
				if !hasCode(err, tc.wantError) {
					t.Errorf("error %v, want code %s", err, tc.wantError)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if answer.State != tc.wantState || answer.HeldBy != tc.wantHeldBy || (len(answer.Incomplete) > 0) != tc.wantIncomplete {
				t.Errorf("state %s held by %q: %s, incomplete %q; want %s held by %q, incomplete %t", answer.State, answer.HeldBy, answer.Summary,
					answer.Incomplete, tc.wantState, tc.wantHeldBy, tc.wantIncomplete)
			}
			kueue := slices.ContainsFunc(tc.cluster.server.Requests(), func(r string) bool { return strings.Contains(r, kueueview.Group) })
			if kueue != tc.wantAsked {
				t.Errorf("Kueue asked: %t, want %t", kueue, tc.wantAsked)
			}
		})
	}
}
