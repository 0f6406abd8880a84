package rebalance

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"koordinator.sh/koord/decision/core/jobinsight"
)

// RunsJob sets what a move of a pod of a job loses and how long it may still run: by the Job that controls it, nil for none that is known, and by
// what was predicted of the pod. A pod of neither is left as it is.
func (p *Pod) RunsJob(pod *corev1.Pod, job *batchv1.Job, now time.Time) {
	if job != nil && pod.Status.StartTime != nil {
		p.Restart = max(now.Sub(pod.Status.StartTime.Time), 0)
		if seconds := job.Spec.ActiveDeadlineSeconds; seconds != nil && job.Status.StartTime != nil {
			p.Remaining = new(max(job.Status.StartTime.Add(time.Duration(*seconds)*time.Second).Sub(now), 0))
		}
	}
	if p.Progress = jobinsight.ProgressSinceAccepted(pod); p.Progress == nil {
		return
	}
	p.Restart = p.Progress.Lost(now)
	if remaining, known := p.Progress.Remaining(now); known && (p.Remaining == nil || remaining < *p.Remaining) {
		p.Remaining = &remaining
	}
}

// Loss says what a move of a pod loses of the work of its job; empty for a pod of which nothing was predicted.
func (p *Pod) Loss() string {
	if p.Progress == nil {
		return ""
	}
	return jobinsight.LossText(p.Restart)
}

// left says when the job of a pod ends and what a move would lose; empty for a pod of which nothing was predicted.
func (p *Pod) left() string {
	if p.Progress == nil || p.Remaining == nil {
		return ""
	}
	return fmt.Sprintf("its job is likely to end in %s; %s", duration.HumanDuration(*p.Remaining), p.Loss())
}
