package webhooks

import (
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
)

func TestOnlyPodsOfQueryEnginesWithoutAHintAreHinted(t *testing.T) {
	o := options()
	if found := o.mutatingQueryHints(nil); len(found) > 0 {
		t.Errorf("registered although it is turned off: %+v", found)
	}
	o.QueryHints.Enabled = true
	webhook := o.mutatingQueryHints(nil)[0]
	if *webhook.FailurePolicy != admissionregistrationv1.Ignore {
		t.Errorf("pods are refused while koord-manager does not answer: %s", *webhook.FailurePolicy)
	}
	hinted := labelled(corev1.ResourceCPU, extension.LabelQueryWorker, "trino")
	hinted.Annotations = map[string]string{extension.AnnotationSchedulingHint: "]"}
	tests := map[string]struct {
		pod  *corev1.Pod
		want bool
	}{
		"a worker":             {labelled(corev1.ResourceCPU, extension.LabelQueryWorker, "trino"), true},
		"a cache":              {labelled(corev1.ResourceCPU, extension.LabelQueryCache, "trino"), true},
		"a worker with a hint": {hinted, false},
		"another pod":          {labelled(corev1.ResourceCPU, "app", "web"), false},
		"a pod without labels": {labelled(corev1.ResourceCPU), false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := matches(t, webhook.MatchConditions, podAttributes(test.pod, nil, "")); got != test.want {
				t.Errorf("the webhook is asked: %v, want %v", got, test.want)
			}
		})
	}
}
