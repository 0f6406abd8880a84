package jobinsight

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
)

// hour is expected of a job that likely takes an hour, and from 50 to 90 minutes.
var hour = &extension.JobPrediction{Duration: &extension.JobDuration{LikelySeconds: 3600, LeastSeconds: 3000, MostSeconds: 5400, Runs: 9}}

func TestProgressIsReadFromThePod(t *testing.T) {
	tests := map[string]struct {
		annotation string
		started    time.Time
		want       *Progress
	}{
		"a job with a prediction that runs": {
			`{"duration":{"likelySeconds":3600,"leastSeconds":3000,"mostSeconds":5400,"runs":9}}`, noon, &Progress{Started: noon, Expected: hour},
		},
		"a job that has not started":                           {annotation: `{"duration":{"likelySeconds":3600,"leastSeconds":3000,"mostSeconds":5400,"runs":9}}`},
		"a pod of which nothing was predicted":                 {started: noon},
		"a prediction without a duration":                      {annotation: `{}`, started: noon},
		"a prediction that cannot be read counts as if absent": {annotation: `{"duration":[]}`, started: noon},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{}}, Status: corev1.PodStatus{Phase: corev1.PodRunning}}
			if test.annotation != "" {
				pod.Annotations[extension.AnnotationJobPrediction] = test.annotation
			}
			if !test.started.IsZero() {
				pod.Status.StartTime = &metav1.Time{Time: test.started}
			}
			if diff := cmp.Diff(test.want, ProgressOf(pod)); diff != "" {
				t.Errorf("progress (-want +got):\n%s", diff)
			}
		})
	}
}

func TestQuartersOfTheWork(t *testing.T) {
	for name, test := range map[string]struct {
		progress *Progress
		ran      time.Duration
		want     int
	}{
		"nothing predicted":               {nil, 50 * time.Minute, 0},
		"in the first quarter":            {&Progress{Started: noon, Expected: hour}, 14 * time.Minute, 0},
		"in the second quarter":           {&Progress{Started: noon, Expected: hour}, 15 * time.Minute, 1},
		"in the last quarter":             {&Progress{Started: noon, Expected: hour}, 59 * time.Minute, 3},
		"longer than likely":              {&Progress{Started: noon, Expected: hour}, 80 * time.Minute, 3},
		"longer than nearly all others":   {&Progress{Started: noon, Expected: hour}, 91 * time.Minute, 0},
		"a start that is not yet reached": {&Progress{Started: noon, Expected: hour}, -time.Minute, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := test.progress.Quarter(noon.Add(test.ran)); got != test.want {
				t.Errorf("%d quarters are done, want %d", got, test.want)
			}
		})
	}
}
