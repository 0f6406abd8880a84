package colocationprofile_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/decision/admission/colocationprofile"
)

func TestProfilesThatNamedNoSchedulerSayWhy(t *testing.T) {
	const profiles = `
- {metadata: {name: batch}, spec: {namespaceSelector: {matchLabels: {koordinator.sh/enable-colocation: "true"}}, selector: {matchLabels: {app: spark}}, schedulerName: koord-scheduler}}
- {metadata: {name: far}, spec: {namespaceSelector: {matchLabels: {team: ml}}, selector: {matchLabels: {app: train}}, schedulerName: koord-scheduler}}
- {metadata: {name: plain}, spec: {labels: {x: "1"}}}
- {metadata: {name: same}, spec: {schedulerName: default-scheduler}}
`
	tests := map[string]struct {
		namespace map[string]string
		exempt    []string
		want      []colocationprofile.Unapplied
	}{
		"the namespace lacks a label": {want: []colocationprofile.Unapplied{
			{Profile: "batch", SchedulerName: "koord-scheduler", Outcome: colocationprofile.NotSelected, NamespaceLabel: "koordinator.sh/enable-colocation=true",
				Reason: "namespace has no label koordinator.sh/enable-colocation, but the selector requires koordinator.sh/enable-colocation=true"},
			{Profile: "far", SchedulerName: "koord-scheduler", Outcome: colocationprofile.NotSelected, Reason: "namespace has no label team, but the selector requires team=ml"},
		}},
		"the closest comes first": {namespace: map[string]string{"team": "ml", "koordinator.sh/enable-colocation": "false"}, want: []colocationprofile.Unapplied{
			{Profile: "batch", SchedulerName: "koord-scheduler", Outcome: colocationprofile.NotSelected, NamespaceLabel: "koordinator.sh/enable-colocation=true",
				Reason: `namespace label koordinator.sh/enable-colocation is "false", but the selector requires koordinator.sh/enable-colocation=true`},
			{Profile: "far", SchedulerName: "koord-scheduler", Outcome: colocationprofile.NotSelected, Reason: `pod label app is "spark", but the selector requires app=train`},
		}},
		"it selects the pod by now": {namespace: map[string]string{"koordinator.sh/enable-colocation": "true"}, want: []colocationprofile.Unapplied{
			{Profile: "batch", SchedulerName: "koord-scheduler", Outcome: colocationprofile.Applied,
				Reason: "the profile selects the pod now, but profiles set the scheduler only when a pod is created"},
			{Profile: "far", SchedulerName: "koord-scheduler", Outcome: colocationprofile.NotSelected, Reason: "namespace has no label team, but the selector requires team=ml"},
		}},
		"no profile may change the namespace": {exempt: []string{"default"}, want: []colocationprofile.Unapplied{
			{Profile: "batch", SchedulerName: "koord-scheduler", Outcome: colocationprofile.Exempt, Reason: `pods in namespace "default" are never changed`},
			{Profile: "far", SchedulerName: "koord-scheduler", Outcome: colocationprofile.Exempt, Reason: `pods in namespace "default" are never changed`},
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "driver", Namespace: "default", Labels: map[string]string{"app": "spark"}}}
			pod.Spec.SchedulerName = "default-scheduler"
			got := colocationprofile.WithoutScheduler(colocationprofile.Input{
				Pod: pod, Namespace: "default", NamespaceLabels: tc.namespace, Profiles: profilesOf(t, profiles),
				Options: colocationprofile.Options{ExemptNamespaces: tc.exempt},
			})
			if diff := cmp.Diff(tc.want, got, cmpopts.IgnoreUnexported(colocationprofile.Unapplied{})); diff != "" {
				t.Errorf("profiles (-want +got):\n%s", diff)
			}
		})
	}
}
