package jobinsight

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"koordinator.sh/koord/api/extension"
)

func TestWhatIsExpectedOfAJob(t *testing.T) {
	store := repeated(Kind{User: "etl", Application: "report"}, 20, Completed, 2, time.Hour)
	got := store.Expected(ofJob("report-12345678"))
	if got == nil || got.Duration == nil {
		t.Fatal("nothing is expected of a job with 20 runs")
	}
	d := *got.Duration
	if d.LikelySeconds < 3500 || d.LikelySeconds > 3700 || d.LeastSeconds > d.LikelySeconds || d.MostSeconds < d.LikelySeconds || d.Runs != 20 {
		t.Errorf("%+v, want about an hour within its interval, of 20 runs", d)
	}
	if got := NewStore(0).Expected(ofJob("report-12345678")); got != nil {
		t.Errorf("%+v is expected, and nothing is known", got.Duration)
	}
	if got := store.Expected(&corev1.Pod{}); got != nil {
		t.Errorf("%+v is expected of a pod that is no job", got.Duration)
	}
	brief := repeated(Kind{User: "etl", Application: "report"}, 20, Completed, 2, time.Millisecond)
	if got := brief.Expected(ofJob("report-12345678")); got == nil || got.Duration.LeastSeconds < 1 {
		t.Errorf("%+v is expected of a job that ends at once, want a second at least", got)
	}
}

func TestDone(t *testing.T) {
	tests := map[string]struct {
		expected *extension.JobPrediction
		ran      time.Duration
		want     float64
	}{
		"just begun":                          {hour, 0, 0},
		"half-way":                            {hour, 30 * time.Minute, 0.5},
		"as long as likely":                   {hour, time.Hour, 1},
		"longer than likely":                  {hour, 80 * time.Minute, 1},
		"longer than nearly all others":       {hour, 91 * time.Minute, 0},
		"a start in the future":               {hour, -time.Minute, 0},
		"nothing expected":                    {nil, time.Hour, 0},
		"no duration":                         {&extension.JobPrediction{}, time.Hour, 0},
		"no time at all":                      {&extension.JobPrediction{Duration: &extension.JobDuration{}}, time.Hour, 0},
		"an interval that ends before likely": {&extension.JobPrediction{Duration: &extension.JobDuration{LikelySeconds: 100, MostSeconds: 1}}, 50 * time.Second, 0.5},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, Done(test.expected, test.ran)); diff != "" {
				t.Errorf("share that is done (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDoneIsAShare, whatever an annotation says.
func TestDoneIsAShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		expected := &extension.JobPrediction{Duration: &extension.JobDuration{
			LikelySeconds: rapid.Int64().Draw(t, "likely"), LeastSeconds: rapid.Int64().Draw(t, "least"), MostSeconds: rapid.Int64().Draw(t, "most"),
		}}
		if done := Done(expected, time.Duration(rapid.Int64().Draw(t, "ran"))); !(done >= 0 && done <= 1) {
			t.Fatalf("%g is done", done)
		}
	})
}
