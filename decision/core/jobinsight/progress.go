package jobinsight

import (
	"math"
	"time"

	corev1 "k8s.io/api/core/v1"

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
