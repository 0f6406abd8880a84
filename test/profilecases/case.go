package profilecases

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"

	configv1alpha1 "koordinator.sh/koord/api/config/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/admission/colocationprofile"
)

// Namespace that the pods of the cases are created in.
const Namespace = "profile-cases"

// Case is one pod and the profiles that meet it.
type Case struct {
	// Name says what the case shows.
	Name string
	// Profiles, in YAML: a list.
	Profiles string
	// Pod to be created, in YAML; its apiVersion, kind, namespace and what every pod needs are added.
	Pod string
	// Draw is the number that every profile with a probability gets.
	Draw int
	// WantPod is the pod afterwards, in YAML, completed like Pod.
	WantPod string
	// WantError is a part of the refusal; empty when the pod is created.
	WantError string
	// WantRefusal is the code with which the validation of pods refuses the outcome; empty when it does not.
	WantRefusal string
	// WantWebhook says that the policy leaves the pod to the webhook.
	WantWebhook bool
}

// NamespaceLabels of the namespace of all cases.
func NamespaceLabels() map[string]string {
	return map[string]string{"kubernetes.io/metadata.name": Namespace, "team": "analytics", "koordinator.sh/enable-colocation": "true"}
}

// PriorityClasses of all cases: those of the chart.
func PriorityClasses() map[string]colocationprofile.PriorityClass {
	classes := map[string]colocationprofile.PriorityClass{}
	for _, band := range extension.PriorityBands() {
		classes[string(band.Class)] = colocationprofile.PriorityClass{Value: band.Default, PreemptionPolicy: corev1.PreemptLowerPriority}
	}
	return classes
}

// All returns every case.
func All() []Case {
	return slices.Concat(fieldCases(), selectionCases(), resourceCases(), wholePodCases(), severalCases())
}

// ReadProfiles decodes the profiles of the case.
func (c Case) ReadProfiles() ([]configv1alpha1.ClusterColocationProfile, error) {
	var profiles []configv1alpha1.ClusterColocationProfile
	if err := yaml.UnmarshalStrict([]byte(c.Profiles), &profiles); err != nil {
		return nil, fmt.Errorf("read the profiles of case %q: %w", c.Name, err)
	}
	return profiles, nil
}

// ReadPod decodes a pod of the case, Pod or WantPod, and completes it as the API server does before admission.
func (c Case) ReadPod(text string) (*corev1.Pod, error) {
	pod := &corev1.Pod{}
	if err := yaml.UnmarshalStrict([]byte(text), pod); err != nil {
		return nil, fmt.Errorf("read the pod of case %q: %w", c.Name, err)
	}
	complete(pod)
	return pod, nil
}

// complete does to a pod what the API server's defaults do, as far as profiles can see it.
func complete(pod *corev1.Pod) {
	pod.APIVersion, pod.Kind = "v1", "Pod"
	pod.Namespace = Namespace
	if pod.Name == "" {
		pod.Name = "pod"
	}
	spec := &pod.Spec
	spec.AutomountServiceAccountToken = new(false)
	if spec.SchedulerName == "" {
		spec.SchedulerName = corev1.DefaultSchedulerName
	}
	if spec.Priority == nil {
		band, _ := extension.PriorityClass(spec.PriorityClassName).Band()
		spec.Priority = new(band.Default)
	}
	if spec.PreemptionPolicy == nil {
		spec.PreemptionPolicy = new(corev1.PreemptLowerPriority)
	}
	if len(spec.Containers) == 0 {
		spec.Containers = []corev1.Container{{Name: "main"}}
	}
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			containers[i].Image = "registry.example.com/app:1"
			requestLimits(&containers[i].Resources)
		}
	}
}

// requestLimits gives every limit without a request one, and rounds up to thousandths.
func requestLimits(resources *corev1.ResourceRequirements) {
	for _, list := range []corev1.ResourceList{resources.Requests, resources.Limits} {
		for name, quantity := range list {
			quantity.RoundUp(resource.Milli)
			list[name] = quantity
		}
	}
	for name, limit := range resources.Limits {
		if _, ok := resources.Requests[name]; !ok {
			if resources.Requests == nil {
				resources.Requests = corev1.ResourceList{}
			}
			resources.Requests[name] = limit.DeepCopy()
		}
	}
}
