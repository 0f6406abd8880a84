package check

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/kubectl-plugin/install"
)

// component is what the checks of one component are made from.
type component struct {
	// name of the component, and short, by which the IDs of its checks begin.
	name, short string
	category    Category
	// down is the finding of the status when it does not run.
	down finding.Code
	// secret is where its serving certificate is; empty for none.
	secret string
	// leads is true for a component whose replicas elect a leader.
	leads bool
}

// checks of a component, the same for each.
func (c component) checks() []Check {
	available := c.short + "-available"
	out := []Check{{
		ID: available, Category: c.category, Retry: true, Needs: []string{installedID}, Title: c.name + " runs with all its replicas",
		Codes: []finding.Code{c.down, finding.WorkloadUnavailable}, Judge: c.available,
	}, {
		ID: c.short + "-restarts", Category: c.category, Needs: []string{installedID}, Title: "the containers of " + c.name + " run without being restarted",
		Codes: []finding.Code{finding.ContainerRestarts}, Retry: true, Judge: c.restarts,
	}, {
		ID: c.short + "-ports", Category: c.category, Needs: []string{installedID}, Title: c.name + " opens no port without TLS on its host",
		Codes: []finding.Code{finding.PortInsecure}, Judge: c.ports,
	}}
	if c.leads {
		out = append(out, Check{
			ID: c.short + "-leader", Category: c.category, Needs: []string{available}, Title: "the leader of " + c.name + " renews its lease, and its clock is right",
			Codes: []finding.Code{finding.ClockSkew}, Judge: c.leader,
		})
	}
	if c.secret != "" {
		out = append(out, Check{
			ID: c.short + "-certificate", Category: c.category, Retry: true, Needs: []string{installedID}, Title: "the serving certificate of " + c.name + " is valid",
			Codes: certificateCodes, Judge: c.certificate,
		})
	}
	return out
}

func (c component) available(f *Facts) Outcome {
	status := f.Installation.Status.Component(c.name)
	if status == nil {
		return skip("no workload of it in namespace %s, and no lease", f.Namespace)
	}
	found := f.found(c.down)
	detail := status.Detail
	if status.Ready != nil {
		detail = fmt.Sprintf("%d/%d ready", *status.Ready, *status.Desired)
		if *status.Ready < *status.Desired && len(found) == 0 {
			found = append(found, report(finding.WorkloadUnavailable, "kubectl -n "+f.Namespace+" get pods", "%s %s has %d of %d replicas ready",
				strings.ToLower(status.Workload), c.name, *status.Ready, *status.Desired))
		}
	}
	for i := range found {
		// The catalogue rates an answer that was given without the component; here the component is missing.
		if found[i].Code == string(c.down) {
			found[i].Severity = diagnosticsv1alpha1.SeverityError
		}
	}
	if status.State == install.StateUnknown {
		return unknown(f.unreadComponents()...)
	}
	return judged(detail, found)
}

// unreadComponents says why the state of components could not be read.
func (f *Facts) unreadComponents() []string {
	unread := f.Installation.Unread
	return slices.Concat(unread[install.PartDeployments], unread[install.PartLeases], unread[install.PartDaemonSets])
}

// tolerance is how far the clock of a leader may be ahead of this one.
const tolerance = 5 * time.Second

func (c component) leader(f *Facts) Outcome {
	status := f.Installation.Status.Component(c.name)
	switch {
	case status == nil:
		return skip("no workload of it in namespace %s, and no lease", f.Namespace)
	case status.Leader == "" || status.RenewedAt == nil:
		return unknown(f.unreadComponents()...)
	}
	detail := "led by " + status.Leader
	if ahead := status.RenewedAt.Sub(f.Now); ahead > tolerance {
		return judged(detail, []diagnosticsv1alpha1.Finding{report(finding.ClockSkew, "",
			"the lease of %s was renewed %s in the future by %q", c.name, ahead.Round(time.Second), status.Leader)})
	}
	return pass("%s, renewed %s ago", detail, max(0, f.Now.Sub(status.RenewedAt.Time)).Round(time.Second))
}

// recent is how long a restart matters.
const recent = time.Hour

// restarts reports containers that wait because they failed, and those that were restarted a short time ago.
func (c component) restarts(f *Facts) Outcome {
	pods := f.podsOf(c.name)
	switch {
	case len(f.Pods.Unread) > 0:
		return unknown(f.Pods.Unread...)
	case len(pods) == 0:
		return skip("no pods in namespace %s", f.Namespace)
	}
	var found []diagnosticsv1alpha1.Finding
	for i := range pods {
		statuses := slices.Concat(pods[i].Status.InitContainerStatuses, pods[i].Status.ContainerStatuses)
		for j := range statuses {
			if one, bad := restarted(f, &pods[i], &statuses[j]); bad {
				found = append(found, one)
			}
		}
	}
	return judged(fmt.Sprintf("pods: %d", len(pods)), found)
}

func restarted(f *Facts, pod *corev1.Pod, status *corev1.ContainerStatus) (diagnosticsv1alpha1.Finding, bool) {
	logs := fmt.Sprintf("kubectl -n %s logs %s -c %s --previous", pod.Namespace, pod.Name, status.Name)
	waiting, last := status.State.Waiting, status.LastTerminationState.Terminated
	switch {
	case waiting != nil && waiting.Reason != "" && waiting.Reason != "ContainerCreating" && waiting.Reason != "PodInitializing":
		if last == nil {
			logs = fmt.Sprintf("kubectl -n %s describe pod %s", pod.Namespace, pod.Name)
		}
		one := report(finding.ContainerRestarts, logs, "container %s of pod %s waits: %s", status.Name, pod.Name, waiting.Reason)
		one.Severity = diagnosticsv1alpha1.SeverityError
		return one, true
	case status.RestartCount > 0 && last != nil && f.Now.Sub(last.FinishedAt.Time) < recent:
		return report(finding.ContainerRestarts, logs, "container %s of pod %s was restarted %s ago (restarts: %d), %s with exit code %d", status.Name, pod.Name,
			f.Now.Sub(last.FinishedAt.Time).Round(time.Second), status.RestartCount, last.Reason, last.ExitCode), true
	}
	return diagnosticsv1alpha1.Finding{}, false
}
