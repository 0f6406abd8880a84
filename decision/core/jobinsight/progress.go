package jobinsight

import (
	"fmt"
	"math"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"koordinator.sh/koord/api/extension"
)

// quarters are the steps in which jobs are compared by what is done: predictions are not so exact that less should decide.
const quarters = 4

// Progress is how far a run is of which something was predicted when its pod was created. A nil Progress is that of a pod of which nothing was
// predicted, or that has not started: nothing is done, and its end is not known.
type Progress struct {
	// Started is when the first container did.
	Started  time.Time                `json:"started"`
	Expected *extension.JobPrediction `json:"expected"`
}

// ProgressOf reads a pod; a prediction that cannot be read counts as if it were absent.
func ProgressOf(pod *corev1.Pod) *Progress {
	if pod.Annotations[extension.AnnotationJobPrediction] == "" {
		return nil
	}
	expected, err := extension.GetJobPrediction(pod.Annotations)
	started := StartOf(pod)
	if err != nil || expected == nil || expected.Duration == nil || started.IsZero() {
		return nil
	}
	return &Progress{Started: started, Expected: expected}
}

// ProgressSinceAccepted is ProgressOf of a run that counts from when the kubelet accepted the pod, before its first container: so both those who
// see since when containers run and koord-descheduler, whose cache does not keep it, come to the same.
func ProgressSinceAccepted(pod *corev1.Pod) *Progress {
	p := ProgressOf(pod)
	if p != nil && pod.Status.StartTime != nil {
		p.Started = pod.Status.StartTime.Time
	}
	return p
}

// Done is the share of the work that is done, from 0 to 1.
func (p *Progress) Done(now time.Time) float64 {
	if p == nil {
		return 0
	}
	return Done(p.Expected, now.Sub(p.Started))
}

// Quarter is how many whole quarters of the work are done, from 0 to 3. Of pods that matter as much, those in the first quarter are the first to go,
// and lose the least of their work.
func (p *Progress) Quarter(now time.Time) int {
	return int(min(math.Floor(p.Done(now)*quarters), quarters-1))
}

// Lost is the work that is lost with the pod: how long it has run.
func (p *Progress) Lost(now time.Time) time.Duration {
	if p == nil {
		return 0
	}
	return max(now.Sub(p.Started), 0)
}

// LossText says what a pod would lose.
func LossText(lost time.Duration) string {
	return fmt.Sprintf("the pod would lose %s of work", duration.HumanDuration(lost))
}

// LossOf says what pods would lose together of which something was predicted; empty where none would lose anything.
func LossOf(pods []*corev1.Pod, now time.Time) string {
	lost := time.Duration(0)
	for _, pod := range pods {
		lost += ProgressOf(pod).Lost(now)
	}
	if lost == 0 {
		return ""
	}
	return fmt.Sprintf("jobs would lose %s of work", duration.HumanDuration(lost))
}

// Remaining is how much longer the pod will run, as likely exceeded as not; false where that is not known, as for one that has run for longer than
// nearly all others. It is the median of the runs that take longer than this one already has, where the logarithms of durations are spread normally
// to both sides of what is likely, each as far as the interval says.
func (p *Progress) Remaining(now time.Time) (time.Duration, bool) {
	if p == nil || p.Expected == nil || p.Expected.Duration == nil || p.Expected.Duration.LikelySeconds <= 0 {
		return 0, false
	}
	likely := float64(p.Expected.Duration.LikelySeconds)
	shortest := min(max(float64(p.Expected.Duration.LeastSeconds), 1), likely)
	longest := max(float64(p.Expected.Duration.MostSeconds), likely)
	ran := max(now.Sub(p.Started).Seconds(), 0)
	if ran > longest {
		return 0, false
	}
	// The error function of deviation is the share of a normal distribution within the interval, and scales distances to it.
	deviation := math.Erfinv(DefaultConfidence)
	below, above := math.Log(likely/shortest)/deviation, math.Log(longest/likely)/deviation
	spread := below
	if ran > likely {
		spread = above
	}
	ended := 0.5
	if ran != likely {
		ended += math.Erf(math.Log(ran/likely)/spread) / 2
	}
	// Half of those that have not ended do by the quantile (1+ended)/2, whose distance is the inverse error function of ended.
	return seconds(likely*math.Exp(above*math.Erfinv(ended)) - ran), true
}
