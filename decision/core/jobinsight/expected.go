package jobinsight

import (
	"math"
	"time"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
)

// Expected is what is predicted of the job of a pod that is about to be created, with intervals of DefaultConfidence; nil for a pod that is no
// job, or of whose duration nothing is known.
func (s *Store) Expected(pod *corev1.Pod) *extension.JobPrediction {
	kind, isJob := KindOf(pod)
	if !isJob {
		return nil
	}
	duration := s.Predict(kind, DefaultConfidence, nil).Of(Duration)
	if duration == nil {
		return nil
	}
	return &extension.JobPrediction{Duration: &extension.JobDuration{
		LikelySeconds: wholeSeconds(duration.Point), LeastSeconds: wholeSeconds(duration.Low), MostSeconds: wholeSeconds(duration.High), Runs: duration.Runs,
	}}
}

// wholeSeconds is at least one: a job that takes no time has made no progress that could be lost.
func wholeSeconds(value float64) int64 {
	return int64(math.Round(min(max(value, 1), most[Duration])))
}

// Done is the share of a job's work that is done once it has run for a time, from 0 to 1, where its runs take as long as expected. A job that has
// run for longer than nearly all others is one whose end is not known: it counts as just begun.
func Done(expected *extension.JobPrediction, ran time.Duration) float64 {
	if expected == nil || expected.Duration == nil || ran <= 0 {
		return 0
	}
	likely, longest := expected.Duration.LikelySeconds, expected.Duration.MostSeconds
	if likely <= 0 || ran.Seconds() > float64(max(longest, likely)) {
		return 0
	}
	return min(ran.Seconds()/float64(likely), 1)
}
