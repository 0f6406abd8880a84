package policy

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"koordinator.sh/koord/api/extension"
)

// podLabels are the labels of the object in a match condition, which knows no variables.
const podLabels = "(has(object.metadata.labels) ? object.metadata.labels : {})"

// RequestsTier is a CEL expression that is true for pods whose containers have batch or mid resources.
func RequestsTier() string {
	return Requests(extension.BatchCPU, extension.BatchMemory, extension.MidCPU, extension.MidMemory)
}

// Requests is a CEL expression that is true for pods a container of which has one of the resources, of whatever amount.
func Requests(resources ...corev1.ResourceName) string {
	quoted := make([]string, len(resources))
	for i, resource := range resources {
		quoted[i] = string(resource)
	}
	names := list(quoted)
	var lists []string
	for _, containers := range []string{"containers", "initContainers"} {
		lists = append(lists, fmt.Sprintf("(has(object.spec.%[1]s) && object.spec.%[1]s.exists(c, has(c.resources) && (%[2]s)))", containers, strings.Join([]string{
			fmt.Sprintf("has(c.resources.requests) && %s.exists(k, k in c.resources.requests)", names),
			fmt.Sprintf("has(c.resources.limits) && %s.exists(k, k in c.resources.limits)", names),
		}, " || ")))
	}
	return anyOf(lists)
}

// inNamespace is true for namespaces whose name meets the requirements. A match condition knows no other label of a namespace,
// so that the others are asked by who serves the request.
func inNamespace(requirements labels.Requirements) string {
	var byName labels.Requirements
	for _, requirement := range requirements {
		if requirement.Key() == corev1.LabelMetadataName {
			byName = append(byName, requirement)
		}
	}
	return meets(byName, fmt.Sprintf("{%s: request.namespace}", quote(corev1.LabelMetadataName)))
}

// selectedPods is true for pods that a profile with one of the paths may select, by their labels and the name of their namespace.
func selectedPods(verdicts []Verdict, paths ...Path) string {
	var conditions []string
	for i := range verdicts {
		for _, path := range paths {
			if verdicts[i].Path == path {
				conditions = append(conditions, allOf([]string{inNamespace(verdicts[i].selectors.Namespace), meets(verdicts[i].selectors.Pod, podLabels)}))
			}
		}
	}
	return anyOf(conditions)
}

// relevant is true for every pod that the profiles could change, whether the policy or the webhook applies them.
func relevant(verdicts []Verdict) string {
	return anyOf([]string{selectedPods(verdicts, ByPolicy, ByWebhook), RequestsTier()})
}

// webhookCondition is true for pods that a profile selects which the policy does not express, and for pods with resources
// of the whole pod that any profile selects.
func webhookCondition(verdicts []Verdict) string {
	return anyOf([]string{
		selectedPods(verdicts, ByWebhook),
		fmt.Sprintf("(has(object.spec.resources) && %s)", relevant(verdicts)),
	})
}
