package live

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/core/jobinsight"
	"koordinator.sh/koord/decision/scheduling/quotaview"
	"koordinator.sh/koord/source"
)

var _ source.JobForecaster = (*Source)(nil)

// ForecastJob reads the pod and what koord-manager learned of jobs.
func (s *Source) ForecastJob(ctx context.Context, namespace, name string, confidence float64) (*source.JobForecast, error) {
	c, err := s.connect()
	if err != nil {
		return nil, err
	}
	pod := &corev1.Pod{}
	if err := c.get(ctx, "pods", namespace, name, pod); err != nil {
		if hasCode(err, finding.NotFound) {
			return nil, missing(ctx, c, request{resource: "pods", namespace: namespace, name: name})
		}
		return nil, err
	}
	return s.ForecastNewJob(ctx, pod, confidence)
}

// ForecastNewJob reads what koord-manager learned of jobs, and for a job that waits the quotas and who holds them.
func (s *Source) ForecastNewJob(ctx context.Context, pod *corev1.Pod, confidence float64) (*source.JobForecast, error) {
	c, err := s.connect()
	if err != nil {
		return nil, err
	}
	parts, err := s.jobInsight(ctx, c)
	if err != nil {
		return nil, err
	}
	out := &source.JobForecast{Answer: jobinsight.AnswerFrom(parts, pod, s.options.Clock.Now(), confidence)}
	noQuota := pod.Namespace == "" // it stands for an application that is not a pod
	if !out.IsJob || out.Forecast.State != jobinsight.Pending || pod.Spec.NodeName != "" || noQuota {
		return out, nil
	}
	var in quotaview.Input
	switch out.Missing, err = s.readQuotaInput(ctx, c, pod.Namespace, &in, podJobDrop); {
	case hasCode(err, finding.NotInstalled): // then there are no quotas
		out.Missing = nil
		return out, nil
	case err != nil:
		out.Missing = []string{fmt.Sprintf("when its quota has room is unknown: %v", err)}
		return out, nil
	}
	out.Start = quotaview.StartOf(in, pod, quotaview.Jobs{Store: out.Store, Now: out.Now, Confidence: confidence})
	return out, nil
}

// jobInsight reads the parts of the store, one after the other: few clusters have a second one.
func (s *Source) jobInsight(ctx context.Context, c *clients) ([][]byte, error) {
	var parts [][]byte
	for i := range jobinsight.Parts {
		kept := &corev1.ConfigMap{}
		err := c.get(ctx, "configmaps", s.options.SystemNamespace, jobinsight.ConfigMapName(i), kept)
		if hasCode(err, finding.NotFound) {
			break
		}
		if err != nil {
			return nil, err
		}
		if data := kept.BinaryData[jobinsight.DataKey]; len(data) > 0 || i == 0 {
			parts = append(parts, data)
		}
	}
	return parts, nil
}
