package jobinsight

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

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

func TestProgressMayCountFromWhenThePodWasAccepted(t *testing.T) {
	pod := &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodRunning, StartTime: &metav1.Time{Time: noon}}}
	if p := ProgressSinceAccepted(pod); p != nil {
		t.Errorf("%+v is the progress of a pod of which nothing was predicted", p)
	}
	if err := extension.SetJobPrediction(pod, hour); err != nil {
		t.Fatal(err)
	}
	for name, startedAt := range map[string]metav1.Time{"as the API server says": metav1.NewTime(noon.Add(5 * time.Minute)), "as koord-descheduler's cache has it": {}} {
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: startedAt}}}}
		if diff := cmp.Diff(&Progress{Started: noon, Expected: hour}, ProgressSinceAccepted(pod)); diff != "" {
			t.Errorf("progress of a pod %s (-want +got):\n%s", name, diff)
		}
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

func TestWhatRemainsOfARun(t *testing.T) {
	expecting := func(likely, least, most int64) *Progress {
		return &Progress{Started: noon, Expected: &extension.JobPrediction{Duration: &extension.JobDuration{LikelySeconds: likely, LeastSeconds: least, MostSeconds: most}}}
	}
	tests := map[string]struct {
		progress  *Progress
		ran, want time.Duration
		wantKnown bool
	}{
		"at its start, what is likely":                  {&Progress{noon, hour}, 0, time.Hour, true},
		"a start in the future counts as now":           {&Progress{noon, hour}, -time.Minute, time.Hour, true},
		"hardly a run has ended by then":                {&Progress{noon, hour}, 50 * time.Minute, 10*time.Minute + 56*time.Second, true},
		"half of the runs have ended":                   {&Progress{noon, hour}, time.Hour, 10*time.Minute + 51*time.Second, true},
		"nearly all have":                               {&Progress{noon, hour}, 89 * time.Minute, 7*time.Minute + 19*time.Second, true},
		"longer than nearly all others":                 {progress: &Progress{noon, hour}, ran: 91 * time.Minute},
		"nothing predicted":                             {ran: time.Minute},
		"a prediction without a duration":               {progress: &Progress{noon, &extension.JobPrediction{}}},
		"no time at all":                                {progress: expecting(0, 0, 0)},
		"all runs take the same time":                   {expecting(60, 60, 60), 45 * time.Second, 15 * time.Second, true},
		"an interval that begins at once":               {expecting(60, 0, 60), 0, time.Minute, true},
		"an interval that does not have what is likely": {expecting(60, 90, 1), 30 * time.Second, 30 * time.Second, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, known := test.progress.Remaining(noon.Add(test.ran))
			if got != test.want || known != test.wantKnown {
				t.Errorf("%v remains (known: %t), want %v (%t)", got, known, test.want, test.wantKnown)
			}
		})
	}
}

// TestRunsEndLaterTheLongerTheyTake, whatever an annotation says.
func TestRunsEndLaterTheLongerTheyTake(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bound := rapid.SampledFrom([]*rapid.Generator[int64]{rapid.Int64(), rapid.Int64Range(-1, 10_000)}).Draw(t, "bound")
		p := &Progress{Started: noon, Expected: &extension.JobPrediction{Duration: &extension.JobDuration{
			LikelySeconds: bound.Draw(t, "likely"), LeastSeconds: bound.Draw(t, "least"), MostSeconds: bound.Draw(t, "most"),
		}}}
		ran := time.Duration(rapid.Int64Range(0, 10_000).Draw(t, "ran")) * time.Second
		longer := ran + time.Duration(rapid.Int64Range(0, 10_000).Draw(t, "longer"))*time.Second
		before, known := p.Remaining(noon.Add(ran))
		after, still := p.Remaining(noon.Add(longer))
		if before < 0 || after < 0 || !known && (before != 0 || still) {
			t.Fatalf("%v, then %v remain (known: %t, then %t)", before, after, known, still)
		}
		if still && longer+after < ran+before-time.Second {
			t.Fatalf("it ends after %v, and after %v once it has run for %v", ran+before, longer+after, longer)
		}
	})
}

// TestAPredictionOnAPodSaysAboutWhatTheStoreDoes of what remains, until most runs have ended.
func TestAPredictionOnAPodSaysAboutWhatTheStoreDoes(t *testing.T) {
	kind, r, store := Kind{User: "etl", Application: "report"}, rand.New(rand.NewPCG(1, 2)), NewStore(0)
	for i := range 600 {
		store.Observe(ended(kind, i, Completed, 2, time.Duration(spread(r, 3600, 0.4))*time.Second))
	}
	p := &Progress{Started: noon, Expected: store.Expected(ofJob("report-12345678"))}
	for _, ran := range []time.Duration{0, 20 * time.Minute, 40 * time.Minute, time.Hour, 80 * time.Minute} {
		want, _ := store.Remaining(kind, ran, DefaultConfidence)
		got, known := p.Remaining(noon.Add(ran))
		if ratio := got.Seconds() / want.Point.Seconds(); !known || ratio < 0.8 || ratio > 1.25 {
			t.Errorf("after %v, %v remains (known: %t), and the store says %v", ran, got, known, want.Point)
		}
	}
}

func TestWhatIsLost(t *testing.T) {
	p := &Progress{noon, hour}
	for text, now := range map[string]time.Time{"the pod would lose 12m of work": noon.Add(12 * time.Minute), "the pod would lose 0s of work": noon.Add(-time.Second)} {
		if got := LossText(p.Lost(now)); got != text {
			t.Errorf("at %v %q, want %q", now, got, text)
		}
	}
	pod := func(ran time.Duration) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{extension.AnnotationJobPrediction: `{"duration":{"likelySeconds":3600}}`}},
			Status:     corev1.PodStatus{Phase: corev1.PodRunning, StartTime: &metav1.Time{Time: noon.Add(-ran)}},
		}
	}
	if got, want := LossOf([]*corev1.Pod{pod(12 * time.Minute), {}, pod(8 * time.Minute)}, noon), "jobs would lose 20m of work"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := LossOf([]*corev1.Pod{pod(0), {}}, noon); got != "" {
		t.Errorf("%q of pods that lose nothing", got)
	}
	var none *Progress
	if lost := none.Lost(noon); lost != 0 {
		t.Errorf("%v is lost of nothing", lost)
	}
}
