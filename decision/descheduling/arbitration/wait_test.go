package arbitration

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

func TestWhatAJobWaitsForIsRecordedWhenItIsNews(t *testing.T) {
	full := Outcome{Decision: Waiting, Gate: MaxMigratingPerNode, Message: "2 pods of node n1 are moving, at most 2 may"}
	limited := Outcome{Decision: Waiting, Gate: ObjectLimiterWorkload, Message: "1 pods were evicted", Retry: time.Minute}
	const wantFull = `{"gate":"MaxMigratingPerNode","message":"2 pods of node n1 are moving, at most 2 may"}`
	const wantLimited = `{"gate":"ObjectLimiterWorkload","message":"1 pods were evicted","until":"2026-05-04T12:01:00Z"}`
	for name, tc := range map[string]struct {
		recorded string
		outcome  Outcome
		later    time.Duration
		want     string
		wantNews bool
	}{
		"nothing is recorded":       {outcome: full, want: wantFull, wantNews: true},
		"another gate":              {recorded: wantLimited, outcome: full, want: wantFull, wantNews: true},
		"the same gate":             {recorded: wantFull, outcome: Outcome{Gate: full.Gate, Message: "3 pods"}, want: wantFull},
		"a gate with a time":        {recorded: wantFull, outcome: limited, want: wantLimited, wantNews: true},
		"before that time":          {recorded: wantLimited, outcome: limited, later: 59 * time.Second, want: wantLimited},
		"at that time":              {recorded: `{"gate":"ObjectLimiterWorkload","until":"2026-05-04T12:00:00Z"}`, outcome: limited, want: wantLimited, wantNews: true},
		"what is no wait":           {recorded: `{`, outcome: full, want: wantFull, wantNews: true},
		"a gate that a user set to": {recorded: `{"gate":"Mine"}`, outcome: full, want: wantFull, wantNews: true},
	} {
		t.Run(name, func(t *testing.T) {
			job := &schedulingv1alpha1.PodMigrationJob{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{}}}
			if tc.recorded != "" {
				job.Annotations[extension.AnnotationArbitrationWait] = tc.recorded
			}
			news, err := MarkWaiting(job, tc.outcome, noon.Add(tc.later))
			if got := job.Annotations[extension.AnnotationArbitrationWait]; err != nil || news != tc.wantNews || got != tc.want {
				t.Errorf("news %t, recorded %s, %v, want %t, %s", news, got, err, tc.wantNews, tc.want)
			}
		})
	}
}

func TestAJobThatMayStartWaitsForNothing(t *testing.T) {
	job := &schedulingv1alpha1.PodMigrationJob{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{extension.AnnotationArbitrationWait: "{}"}}}
	Admit(job, Admission{Node: "n1"})
	if wait, found := job.Annotations[extension.AnnotationArbitrationWait]; found {
		t.Errorf("it waits for %s", wait)
	}
}
