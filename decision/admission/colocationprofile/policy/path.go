package policy

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"koordinator.sh/koord/decision/admission/colocationprofile"
)

// PathOf says who changes one pod that is created in a namespace with these labels, and why it is not the API server. It is ByNone
// where nothing of the pod can change. It knows no exempt namespaces.
func (c Compilation) PathOf(pod *corev1.Pod, namespaceLabels map[string]string) (Path, string) {
	selected := false
	for i := range c.Verdicts {
		verdict := &c.Verdicts[i]
		if !matches(verdict.selectors.Namespace, namespaceLabels) || !matches(verdict.selectors.Pod, pod.Labels) {
			continue
		}
		if verdict.Path == ByWebhook {
			return ByWebhook, fmt.Sprintf("profile %q: %s", verdict.Profile, strings.TrimPrefix(verdict.Reason, fmt.Sprintf("colocation profile %q: ", verdict.Profile)))
		}
		selected = selected || verdict.Path == ByPolicy
	}
	switch {
	case !selected && !requestsTier(pod):
		return ByNone, "no profile selects the pod"
	case c.unserved:
		return ByWebhook, "the API server applies no profile here"
	case pod.Spec.Resources != nil:
		return ByWebhook, "the pod has resources for the pod as a whole"
	case c.Policy == nil:
		return ByNone, "there is nothing to apply"
	}
	return ByPolicy, ""
}

func matches(list labels.Requirements, set map[string]string) bool {
	for i := range list {
		if !list[i].Matches(labels.Set(set)) {
			return false
		}
	}
	return true
}

// requestsTier is RequestsTier of one pod.
func requestsTier(pod *corev1.Pod) bool {
	for _, containers := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range containers {
			for _, name := range colocationprofile.Extended {
				_, requested := containers[i].Resources.Requests[name]
				_, limited := containers[i].Resources.Limits[name]
				if requested || limited {
					return true
				}
			}
		}
	}
	return false
}
