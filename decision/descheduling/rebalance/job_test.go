package rebalance

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/jobinsight"
)

// running is the progress of a job that has run for a time, and likely takes so long, at most half as long again.
func running(ran, likely time.Duration) *jobinsight.Progress {
	return &jobinsight.Progress{Started: noon.Add(-ran), Expected: &extension.JobPrediction{Duration: &extension.JobDuration{
		LikelySeconds: int64(likely.Seconds()), LeastSeconds: int64(likely.Seconds() / 2), MostSeconds: int64(likely.Seconds() * 1.5), Runs: 9,
	}}}
}

func TestWhatAMoveOfAJobLoses(t *testing.T) {
	started := func(ago time.Duration) *metav1.Time { return &metav1.Time{Time: noon.Add(-ago)} }
	job := &batchv1.Job{Status: batchv1.JobStatus{StartTime: started(time.Hour)}}
	deadline := job.DeepCopy()
	deadline.Spec.ActiveDeadlineSeconds = new(int64(2 * 3600))
	const twoHours, anHour = `{"duration":{"likelySeconds":7200,"leastSeconds":7200,"mostSeconds":7200,"runs":9}}`,
		`{"duration":{"likelySeconds":3600,"leastSeconds":3600,"mostSeconds":3600,"runs":9}}`
	tests := map[string]struct {
		job           *batchv1.Job
		prediction    string
		wantRestart   time.Duration
		wantRemaining *time.Duration
		wantLoss      string
	}{
		"a pod of a service loses nothing":                      {},
		"a pod of a Job loses the time that it has run":         {job: job, wantRestart: 40 * time.Minute},
		"which ends by its deadline":                            {job: deadline, wantRestart: 40 * time.Minute, wantRemaining: new(time.Hour)},
		"a Spark executor loses its work, and ends by itself":   {nil, anHour, 40 * time.Minute, new(20 * time.Minute), "the pod would lose 40m of work"},
		"a Job is predicted to end before its deadline":         {deadline, anHour, 40 * time.Minute, new(20 * time.Minute), "the pod would lose 40m of work"},
		"a Job is predicted to end when its deadline has ended": {deadline, twoHours, 40 * time.Minute, new(time.Hour), "the pod would lose 40m of work"},
		"a job that takes longer than nearly all others": {
			nil, `{"duration":{"likelySeconds":60,"leastSeconds":60,"mostSeconds":60,"runs":9}}`, 40 * time.Minute, nil, "the pod would lose 40m of work",
		},
		"a prediction that cannot be read": {job: job, prediction: `{`, wantRestart: 40 * time.Minute},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			object := &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodRunning, StartTime: started(40 * time.Minute)}}
			if test.prediction != "" {
				object.Annotations = map[string]string{extension.AnnotationJobPrediction: test.prediction}
			}
			var pod Pod
			pod.RunsJob(object, test.job, noon)
			if diff := cmp.Diff(Pod{Restart: test.wantRestart, Remaining: test.wantRemaining}, pod, cmpopts.IgnoreFields(Pod{}, "Progress")); diff != "" {
				t.Errorf("pod (-want +got):\n%s", diff)
			}
			if pod.Loss() != test.wantLoss {
				t.Errorf("%q, want %q", pod.Loss(), test.wantLoss)
			}
		})
	}
}

// predicted sets what RunsJob sets of a prediction.
func (p *Pod) predicted(progress *jobinsight.Progress) {
	p.Progress, p.Restart = progress, progress.Lost(noon)
	if remaining, known := progress.Remaining(noon); known {
		p.Remaining = &remaining
	}
}

func TestWhichJobMoves(t *testing.T) {
	tests := map[string]struct {
		// first and second run on an overutilized node, of which one has to leave, and use the same.
		first, second *jobinsight.Progress
		want          int
	}{
		"of equal pods the first":                                     {nil, nil, 0},
		"the one that would lose less of its work":                    {running(5*time.Hour, 6*time.Hour), running(time.Hour, 6*time.Hour), 1},
		"of two that have run as long, the one with more left to do":  {running(time.Hour, 150*time.Minute), running(time.Hour, 20*time.Hour), 1},
		"the one that has not begun, and not one that ends by itself": {running(50*time.Minute, time.Hour), running(0, 6*time.Hour), 1},
		"a service and not a job that ends by itself":                 {running(50*time.Minute, time.Hour), nil, 1},
		"a service and not a job that would lose hours of work":       {nil, running(3*time.Hour, 20*time.Hour), 0},
		"of two in the same quarter that have run as long, the first": {running(time.Hour, 20*time.Hour), running(time.Hour, 19*time.Hour), 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			hot := w.node(60, 40)
			w.node(20, 20)
			for i, progress := range []*jobinsight.Progress{test.first, test.second} {
				if w.pod(hot, 10, 5); progress != nil {
					w.Pods[i].predicted(progress)
				}
			}
			w.Args.MaxMovesPerNode = new(int64(1))
			moves := Decide(w.Input, nil).Moves()
			if len(moves) != 1 || moves[0].Pod != test.want {
				t.Errorf("moves %+v, want one of pod %d", moves, test.want)
			}
		})
	}
}

func TestTheTraceSaysWhatAJobWouldLose(t *testing.T) {
	tests := map[string]struct {
		progress   *jobinsight.Progress
		change     func(*world)
		wantLoss   string
		wantDone   float64
		wantDetail string
	}{
		"a job that moves": {progress: running(2*time.Hour, 6*time.Hour), wantLoss: "the pod would lose 120m of work", wantDone: 0.25},
		"a job that ends soon": {
			progress: running(55*time.Minute, time.Hour), change: func(w *world) { w.Args.CostWeight = new(0.005) },
			wantDetail: "its job is likely to end in 13m; the pod would lose 55m of work",
		},
		"a job whose move costs too much": {
			progress: running(20*time.Hour, 48*time.Hour), change: func(w *world) { w.Args.VarianceWeight = new(0.0) },
			wantDetail: "the best move gains 0.0225, and 0.1211 are required at a cost of 121; the pod would lose 20h of work",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := overutilized(test.change)
			w.Pods[0].predicted(test.progress)
			var trace Trace
			Decide(w.Input, &trace)
			var loss, detail string
			var done float64
			if len(trace.Moves) > 0 {
				loss, done = trace.Moves[0].Loss, trace.Moves[0].Done
			}
			if len(trace.Skipped) > 0 {
				detail = trace.Skipped[0].Detail
			}
			if loss != test.wantLoss || done != test.wantDone || detail != test.wantDetail {
				t.Errorf("%q with %g done, or stays because %q; want %q with %g, or %q", loss, done, detail, test.wantLoss, test.wantDone, test.wantDetail)
			}
		})
	}
}

// TestAPredictionDecidesOnlyBetweenEquals: the plan is that without predictions where all jobs are as far as each other, and so where there are
// none. What a move costs and for how long it is worth something is the same in both.
func TestAPredictionDecidesOnlyBetweenEquals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := generated(t)
		want := Decide(w.Input, nil)
		same := running(time.Duration(rapid.IntRange(0, 9).Draw(t, "ran"))*time.Hour, 8*time.Hour)
		for i := range w.Pods {
			w.Pods[i].Progress = same
		}
		if diff := cmp.Diff(want, Decide(w.Input, nil)); diff != "" {
			t.Fatalf("plan (-without predictions +with the same for all):\n%s", diff)
		}
	})
}
