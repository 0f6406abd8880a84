package claims

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/nodeqos/cpupool"
	"koordinator.sh/koord/decision/scheduling/device"
)

// Findings are about the pods of one node, in their order. They are decided as the agent decides it.
func Findings(pods []*corev1.Pod) []diagnosticsv1alpha1.Finding {
	cpus, devices := cpupool.Owners(pods), device.Owners(pods)
	var findings []diagnosticsv1alpha1.Finding
	for i, pod := range pods {
		for _, problem := range []string{cpus[i].Problem, devices[i].Problem} {
			if problem != "" {
				findings = append(findings, findingOf(pod, problem))
			}
		}
	}
	return findings
}

func findingOf(pod *corev1.Pod, problem string) diagnosticsv1alpha1.Finding {
	const code = finding.ClaimIgnored
	return diagnosticsv1alpha1.Finding{
		Code: string(code), Severity: diagnosticsv1alpha1.Severity(code.Severity()),
		Message: fmt.Sprintf("pod %s/%s does not get all that it claims: %s", pod.Namespace, pod.Name, problem),
		Hint:    fmt.Sprintf("kubectl -n %s delete pod %s", pod.Namespace, pod.Name),
		Object:  &diagnosticsv1alpha1.SourceRef{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, Field: "metadata.annotations"},
	}
}
