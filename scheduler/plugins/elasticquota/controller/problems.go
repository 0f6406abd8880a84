package controller

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/finding"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/quota"
)

// problemLabels are the labels by which the metric distinguishes problems.
type problemLabels struct {
	code            finding.Code
	namespace, name string
}

// announceAll reports problems that are new, or have lasted for long, in Warning events on the ElasticQuotas, and counts all
// of them.
func (c *Controller) announceAll(ctx context.Context) error {
	if !c.State.Served() {
		return nil
	}
	problems, counted := c.State.Problems(), map[problemLabels]int{}
	for _, problem := range problems {
		counted[problemLabels{code: problem.Code, namespace: problem.Namespace, name: problem.Quota}]++
	}
	for _, problem := range c.announced.Due(c.Now(), problems) {
		c.announce(problem)
	}
	c.count(counted)
	return ctx.Err()
}

// announce names the object by reference: the scheduler's events know no kinds but those of Kubernetes.
func (c *Controller) announce(problem quota.Problem) {
	reference := &corev1.ObjectReference{
		APIVersion: schedulingsigsv1alpha1.GroupVersion.String(), Kind: "ElasticQuota", Namespace: problem.Namespace, Name: problem.Quota,
	}
	if object := c.State.At(problem.Namespace, problem.Quota); object != nil {
		reference.UID, reference.ResourceVersion = object.UID, object.ResourceVersion
	}
	c.Recorder.Eventf(reference, nil, corev1.EventTypeWarning, problem.Code.Name(), "Arranging", "%s: %s", problem.Code, problem.Message)
}

// count makes the metric say how many problems there are; nil stands for none.
func (c *Controller) count(counted map[problemLabels]int) {
	for labels := range c.counted {
		if counted[labels] == 0 {
			problemsMetric.DeleteLabelValues(string(labels.code), labels.namespace, labels.name)
		}
	}
	for labels, number := range counted {
		problemsMetric.WithLabelValues(string(labels.code), labels.namespace, labels.name).Set(float64(number))
	}
	c.counted = counted
}
