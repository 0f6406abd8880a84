package live

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/core/unknown"
	"koordinator.sh/koord/decision/scheduling/jobview"
	"koordinator.sh/koord/decision/scheduling/kueueview"
	"koordinator.sh/koord/source"
)

var _ source.JobExplainer = (*Source)(nil)

// ExplainJob reads a Job with its pods and what Kueue says about it, and explains the pod that has waited longest.
func (s *Source) ExplainJob(ctx context.Context, namespace, name string) (*diagnosticsv1alpha1.JobExplanation, error) {
	c, err := s.connect()
	if err != nil {
		return nil, err
	}
	client, err := c.of(source.KindJob)
	if err != nil {
		return nil, err
	}
	in := jobview.Input{Job: &batchv1.Job{}}
	r := requestFor("get", source.KindJob, namespace)
	r.name = name
	if err := getJSON(ctx, client, r, in.Job); err != nil {
		if hasCode(err, finding.NotFound) {
			return nil, missingAmong(ctx, client, r, "kubectl get jobs -n "+namespace)
		}
		return nil, err
	}
	var gaps gaps
	if in.Pods, err = c.podsOf(ctx, in.Job); err != nil {
		in.PodsUnknown = true
		if err := gaps.note(err, unknown.Pods, "what its pods wait for is unknown"); err != nil {
			return nil, err
		}
	}
	if err := c.readQueue(ctx, &in, &gaps); err != nil {
		return nil, err
	}
	if pod := jobview.Waiting(in.Pods); pod != nil {
		in.Waiting, err = s.ExplainPod(ctx, namespace, pod.Name, diagnosticsv1alpha1.PodExplanationSpec{SkipFix: true})
		if err := gaps.note(err, unknown.Pods, "what its pods wait for is unknown"); err != nil {
			return nil, err
		}
	}
	answer := jobview.Explain(in)
	answer.TypeMeta, answer.Incomplete = kind("JobExplanation"), append(gaps.all(), answer.Incomplete...)
	return answer, nil
}

// podsOf lists the pods of a Job.
func (c *clients) podsOf(ctx context.Context, job *batchv1.Job) ([]corev1.Pod, error) {
	if job.Spec.Selector == nil {
		return nil, nil // the API server has not defaulted it
	}
	return c.pods(ctx, selection{namespace: job.Namespace, labels: metav1.FormatLabelSelector(job.Spec.Selector)}, podListDrop)
}

// readQueue reads what Kueue says about a Job that it may manage: one that is suspended, or names a LocalQueue.
func (c *clients) readQueue(ctx context.Context, in *jobview.Input, gaps *gaps) error {
	job := in.Job
	suspended := job.Spec.Suspend != nil && *job.Spec.Suspend
	if _, queued := job.Labels[kueueview.QueueLabel]; !queued && !suspended {
		return nil
	}
	found, err := c.kueue(ctx, kueueview.Job, &job.ObjectMeta, suspended, gaps)
	if err != nil {
		return gaps.note(err, unknown.Workloads, notAdmitted)
	}
	in.Kueue = &found
	return nil
}
