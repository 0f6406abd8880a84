package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	scheduling "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/kubectl-plugin/install"
)

func agentChecks() []Check {
	agent := component{name: agentName, short: "agent", category: Agent, down: finding.AgentUnavailable}
	return append(agent.checks(), Check{
		ID: "agent-coverage", Category: Agent, Retry: true, Needs: []string{installedID}, Title: "koordlet runs on every node",
		Codes: []finding.Code{finding.AgentUnavailable}, Judge: agentCoverage,
	}, Check{
		ID: "agent-metrics", Category: Agent, Retry: true, Needs: []string{installedID}, Title: "every node has a NodeMetric that is up to date",
		Codes: []finding.Code{finding.MetricStale, finding.MetricExpired, finding.MetricAbsent, finding.MetricInvalid}, Judge: agentMetrics,
	}, Check{
		ID: "agent-answers", Category: Agent, Retry: true, Needs: []string{installedID}, Title: "koordlet answers questions about every node",
		Codes: []finding.Code{finding.AgentUnavailable}, Judge: agentAnswers,
	}, Check{
		ID: "agent-enforcement", Category: Agent, Needs: []string{installedID}, Title: "koordlet can limit best-effort pods on every node",
		Codes: []finding.Code{finding.AgentNotEnforcing}, Judge: agentEnforcement,
	}, Check{
		ID: "agent-evictions", Category: Agent, Needs: []string{installedID}, Title: "the eviction budget of the cluster is not used up",
		Codes: []finding.Code{finding.EvictionBudgetCluster}, Judge: func(f *Facts) Outcome {
			return f.ofStatus(install.PartEvictions, "", finding.EvictionBudgetCluster)
		},
	})
}

// agentCoverage compares the nodes with the pods of the DaemonSet, and says why a node has none.
func agentCoverage(f *Facts) Outcome {
	if unread := slices.Concat(f.DaemonSets.Unread, f.Nodes.Unread, f.Pods.Unread); len(unread) > 0 {
		return unknown(unread...)
	}
	daemon := named(f.DaemonSets.Value, agentName)
	if daemon == nil {
		return skip("no DaemonSet %s; the agents are judged by their NodeMetrics", agentName)
	}
	onNode := map[string]string{} // why the pod there does not work
	for _, pod := range f.podsOf(agentName) {
		onNode[pod.Spec.NodeName] = notReady(&pod)
	}
	groups, lacking := map[string][]string{}, 0
	for i := range f.Nodes.Value {
		node := &f.Nodes.Value[i]
		why, has := onNode[node.Name]
		if !has {
			why = whyNoAgent(daemon, node)
		}
		if why != "" {
			groups[why] = append(groups[why], node.Name)
			lacking++
		}
	}
	var found []diagnosticsv1alpha1.Finding
	for _, why := range slices.Sorted(maps.Keys(groups)) {
		found = append(found, report(finding.AgentUnavailable, "kubectl -n "+f.Namespace+" get pods -o wide", "no koordlet on %s: %s", some(groups[why]), why))
	}
	return judged(fmt.Sprintf("%d/%d nodes", len(f.Nodes.Value)-lacking, len(f.Nodes.Value)), found)
}

// notReady says why the pod of an agent does not work; empty when it does.
func notReady(pod *corev1.Pod) string {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue {
			return ""
		}
	}
	for _, status := range pod.Status.ContainerStatuses {
		if waiting := status.State.Waiting; waiting != nil {
			return "its pod waits: " + waiting.Reason
		}
	}
	return "its pod is not ready"
}

// whyNoAgent says why the DaemonSet makes no pod for a node.
func whyNoAgent(daemon *appsv1.DaemonSet, node *corev1.Node) string {
	spec := &daemon.Spec.Template.Spec
	// The DaemonSet controller adds tolerations of what it ignores.
	taint, refused := scheduling.FindMatchingUntoleratedTaint(klog.Background(), node.Spec.Taints, spec.Tolerations, func(t *corev1.Taint) bool {
		own := strings.HasPrefix(t.Key, "node.kubernetes.io/") && t.Key != "node.kubernetes.io/out-of-service"
		return !own && (t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute)
	}, false)
	if refused {
		return fmt.Sprintf("it does not tolerate taint %s", taint.ToString())
	}
	matches, err := nodeaffinity.GetRequiredNodeAffinity(&corev1.Pod{Spec: *spec}).Match(node)
	if err != nil || !matches {
		return "its nodeSelector or affinity does not match the node"
	}
	return "it has no pod there"
}

// metricCodes are the findings for a NodeMetric that cannot be relied on.
var metricCodes = map[diagnosticsv1alpha1.MetricState]finding.Code{
	diagnosticsv1alpha1.MetricStale: finding.MetricStale, diagnosticsv1alpha1.MetricExpired: finding.MetricExpired,
	diagnosticsv1alpha1.MetricAbsent: finding.MetricAbsent, diagnosticsv1alpha1.MetricInvalid: finding.MetricInvalid,
}

func agentMetrics(f *Facts) Outcome {
	switch {
	case len(f.Overviews.Unread) > 0:
		return unknown(f.Overviews.Unread...)
	case len(f.Overviews.Value) == 0:
		return skip("there are no nodes")
	}
	groups, fresh, unseen := map[diagnosticsv1alpha1.MetricState][]string{}, 0, 0
	for i := range f.Overviews.Value {
		node := &f.Overviews.Value[i]
		switch state := node.Metric.State; {
		case state == diagnosticsv1alpha1.MetricFresh:
			fresh++
		case metricCodes[state] != "":
			groups[state] = append(groups[state], node.Name)
		default:
			unseen++
		}
	}
	if unseen == len(f.Overviews.Value) {
		return unknown("the NodeMetrics, or the configuration that says when one is too old, could not be read")
	}
	var found []diagnosticsv1alpha1.Finding
	for _, state := range slices.Sorted(maps.Keys(groups)) {
		found = append(found, report(metricCodes[state], "koordctl explain node "+groups[state][0], "the NodeMetric is %s: %s",
			strings.ToLower(string(state)), some(groups[state])))
	}
	return judged(fmt.Sprintf("%d/%d fresh", fresh, len(f.Overviews.Value)), found)
}

func agentAnswers(f *Facts) Outcome {
	switch {
	case f.upstream():
		return skip("this build has no diagnostics API")
	case f.Installation.Status.API.State != install.StateReady:
		return skip("the diagnostics API, which asks the agents, is not available")
	case len(f.Agents.Unread) > 0:
		return unknown(f.Agents.Unread...)
	case len(f.Nodes.Unread) > 0:
		return unknown(f.Nodes.Unread...)
	case len(f.Agents.Value) == 0:
		return skip("there are no nodes")
	}
	var silent []string
	for i := range f.Agents.Value {
		if !f.Agents.Value[i].answered() {
			silent = append(silent, f.Agents.Value[i].Node)
		}
	}
	detail := fmt.Sprintf("%d/%d agents", len(f.Agents.Value)-len(silent), len(f.Agents.Value))
	if len(silent) == 0 {
		return judged(detail, nil)
	}
	return judged(detail, []diagnosticsv1alpha1.Finding{report(finding.AgentUnavailable, "koordctl explain node "+silent[0]+" features",
		"koordlet did not answer on %s", some(silent))})
}

func agentEnforcement(f *Facts) Outcome {
	state := f.Installation.Status.Enforcement
	switch {
	case len(f.Installation.Unread[install.PartEnforcement]) > 0:
		return unknown(f.Installation.Unread[install.PartEnforcement]...)
	case state.Nodes == nil || *state.Nodes == 0:
		return skip("there are no NodeMetrics")
	case state.Silent == *state.Nodes:
		return skip("the agents do not report it")
	}
	return f.ofStatus(install.PartEnforcement, fmt.Sprintf("%d/%d nodes", state.Enforcing, *state.Nodes), finding.AgentNotEnforcing)
}
