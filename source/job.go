package source

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/jobinsight"
	"koordinator.sh/koord/decision/scheduling/quotaview"
)

// JobForecast is what is predicted of a job, and when its quota has room for one that waits.
type JobForecast struct {
	*jobinsight.Answer
	// Start is nil for a job that does not wait or counts against no quota, and where Missing says what could not be read.
	Start   *quotaview.Start
	Missing []string
}

// JobForecaster is a source that predicts jobs. Implementations are safe for concurrent use.
type JobForecaster interface {
	// ForecastJob predicts the job of a pod that exists. A pod that does not is an error with code KOORD0003.
	ForecastJob(ctx context.Context, namespace, name string, confidence float64) (*JobForecast, error)
	// ForecastNewJob predicts the job of a pod as its manifest says. One without a namespace stands for an application that is not a pod.
	ForecastNewJob(ctx context.Context, pod *corev1.Pod, confidence float64) (*JobForecast, error)
}

// JobExplainer is a source that explains Jobs. Implementations are safe for concurrent use.
type JobExplainer interface {
	// ExplainJob says what keeps a Job from running. A name that does not exist is an error with code KOORD0003.
	ExplainJob(ctx context.Context, namespace, name string) (*diagnosticsv1alpha1.JobExplanation, error)
}
