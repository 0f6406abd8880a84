package evictors

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/decision/descheduling/drain"
)

// systemCriticalPriority is that of system-cluster-critical, from which on the kubelet spares pods.
const systemCriticalPriority int32 = 2000000000

func priorityOf(pod *corev1.Pod) int32 {
	if pod.Spec.Priority == nil {
		return 0
	}
	return *pod.Spec.Priority
}

func mirrored(pod *corev1.Pod) bool {
	_, found := pod.Annotations[corev1.MirrorPodAnnotationKey]
	return found
}

// pressures are the conditions of a node on which the kubelet evicts pods.
var pressures = []corev1.NodeConditionType{corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure}

func kubelet(in *Input) Evictor {
	e := Evictor{Name: Kubelet, IgnoresBudgets: true}
	switch {
	case mirrored(in.Pod):
		e.protected("the kubelet spares static pods")
	case priorityOf(in.Pod) >= systemCriticalPriority:
		e.protected(fmt.Sprintf("the kubelet spares critical pods, and its priority is %d", priorityOf(in.Pod)))
	}
	switch {
	case in.Pod.Spec.NodeName == "":
		e.needs("the pod has to be bound to a node")
	case in.Node == nil:
		e.needs("the node must be under pressure, which is not known: it could not be read")
	case !pressed(in.Node):
		e.needs(fmt.Sprintf("node %s must be under memory, disk or PID pressure", in.Node.Name))
	}
	return e
}

func pressed(node *corev1.Node) bool {
	for _, condition := range node.Status.Conditions {
		for _, pressure := range pressures {
			if condition.Type == pressure && condition.Status == corev1.ConditionTrue {
				return true
			}
		}
	}
	return false
}

func preemption(in *Input) Evictor {
	e := Evictor{Name: Preempting, IgnoresBudgets: true}
	if mirrored(in.Pod) {
		e.protected("the kubelet runs static pods whatever the API server says")
	}
	priority, above := priorityOf(in.Pod), ""
	for _, pending := range in.Preemption.Pending {
		if pending.Priority > priority && above == "" {
			above = pending.Name
		}
	}
	if above == "" {
		e.needs(fmt.Sprintf("a pod with a priority above %d must wait for node %s", priority, nameOr(in.Pod.Spec.NodeName, "(none)")))
	}
	return e
}

func nameOr(name, otherwise string) string {
	if name == "" {
		return otherwise
	}
	return name
}

func agent(in *Input) Evictor {
	e := Evictor{Name: NodeAgent}
	if !in.Agent.Installed {
		e.protected("koordlet does not run on the node")
		return e
	}
	var triggers, waits, exclusions []string
	for _, feature := range in.Agent.Features {
		switch {
		case !feature.On:
		case feature.Exclusion != "":
			exclusions = append(exclusions, fmt.Sprintf("%s does not take it: %s", feature.Name, feature.Exclusion))
		case feature.Short:
			e.budgets(in.Disruption)
			return e
		case feature.Waits != "":
			waits = append(waits, fmt.Sprintf("%s (%s)", feature.Waits, feature.Name))
		default:
			triggers = append(triggers, fmt.Sprintf("%s (%s)", feature.Trigger, feature.Name))
		}
	}
	if len(triggers) > 0 {
		waits = slices.Insert(waits, 0, "the node must reach "+strings.Join(triggers, " or "))
	}
	switch {
	case len(waits) > 0:
		e.needs(strings.Join(waits, ", or "))
		e.budgets(in.Disruption)
	case len(exclusions) > 0:
		e.Protections = exclusions
	default:
		e.protected("no eviction feature of koordlet is enabled on the node")
	}
	return e
}

func quota(in *Input) Evictor {
	e := Evictor{Name: Revoking}
	switch {
	case in.Quota.Name == "":
		e.protected("the pod belongs to no quota")
		return e
	case !in.Quota.Revokes:
		e.protected("the scheduler does not evict pods of quotas that use too much: monitorAllQuotas is false")
	case !in.Quota.Preemptible:
		e.protected("the pod is not preemptible")
	}
	if !in.Quota.Over {
		e.needs(fmt.Sprintf("quota %s must use more than its runtime", in.Quota.Name))
	}
	e.budgets(in.Disruption)
	return e
}

func descheduler(in *Input) Evictor {
	e := Evictor{Name: Descheduled}
	if !in.Descheduler.Installed {
		e.protected("koord-descheduler does not run")
		return e
	}
	for _, refusal := range in.Descheduler.Evictability.Refusals {
		e.protected(fmt.Sprintf("gate %s: %s", refusal.Gate, refusal.Message))
	}
	e.budgets(in.Disruption)
	switch {
	case in.Descheduler.Job == "":
		e.needs("a PodMigrationJob must be created for it")
	case !in.Descheduler.Running:
		e.needs(fmt.Sprintf("PodMigrationJob %s must pass the arbitration", in.Descheduler.Job))
	}
	return e
}

func drained(in *Input) Evictor {
	e := Evictor{Name: Drain}
	selected := drain.Select(in.Pod)
	if !selected.Evict {
		e.protected("kubectl drain skips it: " + selected.Reason)
		return e
	}
	if len(selected.Flags) > 0 {
		flags := make([]string, len(selected.Flags))
		for i, flag := range selected.Flags {
			flags[i] = string(flag)
		}
		e.needs(fmt.Sprintf("kubectl drain needs %s: %s", strings.Join(flags, " "), selected.Reason))
	}
	if in.Node == nil || !in.Node.Spec.Unschedulable {
		e.needs("the node must be drained")
	}
	e.budgets(in.Disruption)
	return e
}
