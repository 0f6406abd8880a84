package webhooks

import (
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
)

func TestOnlyPodsThatMayBeJobsArePredicted(t *testing.T) {
	o := options()
	if found := o.mutatingJobs(nil); len(found) > 0 {
		t.Errorf("registered although it is turned off: %+v", found)
	}
	o.PredictJobs = true
	webhook := o.mutatingJobs(nil)[0]
	if *webhook.FailurePolicy != admissionregistrationv1.Ignore {
		t.Errorf("pods are refused while koord-manager does not answer: %s", *webhook.FailurePolicy)
	}
	owned := func(kind string, controller *bool) *corev1.Pod {
		pod := labelled(corev1.ResourceCPU)
		pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: kind, Name: "o", UID: "u", Controller: controller}}
		return pod
	}
	annotated := func(key string) *corev1.Pod {
		pod := labelled(corev1.ResourceCPU)
		pod.Annotations = map[string]string{key: "x"}
		return pod
	}
	tests := map[string]struct {
		pod  *corev1.Pod
		want bool
	}{
		"of a Job":                       {owned("Job", new(true)), true},
		"of a Job that does not control": {owned("Job", nil), false},
		"of a ReplicaSet":                {owned("ReplicaSet", new(true)), false},
		"of Spark":                       {labelled(corev1.ResourceCPU, "spark-app-name", "report"), true},
		"with an application":            {annotated(extension.AnnotationJobApplication), true},
		"that brings a prediction":       {annotated(extension.AnnotationJobPrediction), true},
		"without anything":               {labelled(corev1.ResourceCPU), false},
	}
	for name, test := range tests {
		t.Run("a pod "+name, func(t *testing.T) {
			if got := matches(t, webhook.MatchConditions, podAttributes(test.pod, nil, "")); got != test.want {
				t.Errorf("the webhook is asked: %v, want %v", got, test.want)
			}
		})
	}
}
