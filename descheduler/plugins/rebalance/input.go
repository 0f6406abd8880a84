package rebalance

import (
	"context"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/loopguard"
	"koordinator.sh/koord/decision/descheduling/nodeload"
	"koordinator.sh/koord/decision/descheduling/rebalance"
)

// view is what a pass is decided from, with the objects.
type view struct {
	in    rebalance.Input
	nodes []*corev1.Node
	pods  []*corev1.Pod
}

const (
	// systemPrefix begins the names under which the usage of nodes without their pods is observed. No pod has such a name.
	systemPrefix = "system//"
	// longestReadiness counts for a pod that became ready again long after its start.
	longestReadiness = 10 * time.Minute
)

// view reads nodes, pods and their usage.
func (p *Plugin) view(ctx context.Context, nodes []*corev1.Node) (*view, error) {
	now := p.sources.Now()
	v := &view{in: rebalance.Input{Args: p.args, Now: now, Resources: slices.Sorted(maps.Keys(p.args.HighThresholds))}}
	reports, err := p.sources.NodeMetrics.Reports(ctx)
	if err != nil {
		return nil, err
	}
	jobs, err := p.sources.Jobs(ctx)
	if err != nil {
		return nil, err
	}
	others, err := p.others(ctx)
	if err != nil {
		return nil, err
	}
	owners := newWorkloads(p.client)
	selected, pods, err := p.podsOf(nodes)
	if err != nil {
		return nil, err
	}
	count := 0
	for i := range pods {
		count += len(pods[i])
	}
	v.in.Pods, v.pods = slices.Grow(p.pods, count), slices.Grow(p.objects, count)
	for i, node := range selected {
		p.addNode(ctx, v, node, reports[node.Name], pods[i], arrivals(jobs, node.Name), owners, others)
	}
	p.observed.Forget(now)
	v.in.Workloads = owners.found
	v.in.History = loopguard.MovesOf(jobs)
	if p.sources.Evictions != nil {
		more, err := p.sources.Evictions(ctx, jobs)
		if err != nil {
			return nil, err
		}
		v.in.History = append(v.in.History, more...)
	}
	v.in.Feasible = rebalance.NodeFit(v.nodes, v.pods, func(pod int) int { return v.in.Pods[pod].Node })
	return v, nil
}

// podsOf are the selected ones of the nodes, each with its running pods.
func (p *Plugin) podsOf(nodes []*corev1.Node) (selected []*corev1.Node, pods [][]*corev1.Pod, err error) {
	list := p.handle.GetPodsAssignedToNodeFunc()
	for _, node := range nodes {
		if !p.selector.Matches(labelsOf(node)) {
			continue
		}
		of, err := list(node.Name, running)
		if err != nil {
			return nil, nil, err
		}
		selected, pods = append(selected, node), append(pods, of)
	}
	return selected, pods, nil
}

func running(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
}

// addNode adds a node with its pods. Pods that are on their way to it count as if they were there.
func (p *Plugin) addNode(ctx context.Context, v *view, node *corev1.Node, report *nodeload.Report, pods []*corev1.Pod, arriving []string, owners *workloads, others *others) {
	now, usage := v.in.Now, rebalance.Node{Name: node.Name, Capacity: capacity(node, v.in.Resources), Unschedulable: node.Spec.Unschedulable}
	usage.Limit = others.limits(node, v.in.Resources)
	fresh := p.observe(node.Name, report, v.in.Resources, now)
	p.names, p.bestEffort = append(append(p.names[:0], systemPrefix+node.Name), arriving...), p.bestEffort[:0]
	for _, pod := range pods {
		name := p.observed.Name(pod.Namespace, pod.Name)
		p.names = append(p.names, name)
		if extension.PodQoSClass(pod) == extension.QoSBE {
			p.bestEffort = append(p.bestEffort, name)
		}
		limit := p.limit(v, name, pod)
		one := rebalance.Pod{Name: name, Node: len(v.nodes), Workload: owners.index(ctx, pod), Usage: p.observed.Peak(name), Limit: limit, Readiness: readiness(pod)}
		if pod.Status.StartTime != nil {
			one.Started = pod.Status.StartTime.Time
		}
		if pod.Spec.Priority != nil {
			one.Priority = *pod.Spec.Priority
		}
		one.EvictionCost, _ = extension.EvictionCost(pod.Annotations) // an invalid cost counts as 0
		one.RunsJob(pod, owners.jobOf(pod), now)
		v.in.Pods, v.pods = append(v.in.Pods, one), append(v.pods, pod)
	}
	if fresh {
		usage.Usage = p.observed.PeakOfSum(p.names)
		usage.Reclaimable = p.reclaimable(v, &usage, p.bestEffort, others.agents[node.Name])
	}
	v.in.Nodes, v.nodes = append(v.in.Nodes, usage), append(v.nodes, node)
}

// observe what a NodeMetric reports; false for one that is missing, too old or from the future.
func (p *Plugin) observe(node string, report *nodeload.Report, resources []corev1.ResourceName, now time.Time) bool {
	if report == nil || report.UpdateTime.IsZero() || !report.HasUsage {
		return false
	}
	at, expiration := report.UpdateTime, time.Duration(*p.args.NodeMetricExpirationSeconds)*time.Second
	if now.Sub(at) > expiration || at.Sub(now) > expiration {
		return false
	}
	p.values = reported(p.values[:0], report.System, resources)
	p.observed.Observe(systemPrefix+node, p.values, at)
	for i := range report.Pods {
		pod := &report.Pods[i]
		p.values = reported(p.values[:0], pod.Usage, resources)
		p.observed.Observe(p.observed.Name(pod.Namespace, pod.Name), p.values, at)
	}
	return true
}

// reported appends amounts in cores or the resource's own unit.
func reported(values []float64, list nodeload.Amounts, resources []corev1.ResourceName) []float64 {
	for _, name := range resources {
		amount, _ := list.Get(name)
		value := float64(amount)
		if name == corev1.ResourceCPU {
			value /= 1000
		}
		values = append(values, value)
	}
	return values
}

func amounts(list corev1.ResourceList, resources []corev1.ResourceName) []float64 {
	out := make([]float64, len(resources))
	for r, name := range resources {
		quantity := list[name]
		out[r] = quantity.AsApproximateFloat64()
	}
	return out
}

// capacity is what a node can allocate before amplification.
func capacity(node *corev1.Node, resources []corev1.ResourceName) []float64 {
	out := amounts(node.Status.Allocatable, resources)
	raw, err := extension.GetNodeRawAllocatable(node.Annotations)
	if err != nil {
		return out // one that cannot be read amplifies nothing
	}
	for r, name := range resources {
		if quantity, set := raw[name]; set {
			out[r] = quantity.AsApproximateFloat64()
		}
	}
	return out
}

// readiness is how long the pod took to become ready.
func readiness(pod *corev1.Pod) time.Duration {
	if pod.Status.StartTime == nil {
		return 0
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue {
			return min(max(condition.LastTransitionTime.Sub(pod.Status.StartTime.Time), 0), longestReadiness)
		}
	}
	return longestReadiness
}

// active is true for a job that has not ended.
func active(job *schedulingv1alpha1.PodMigrationJob) bool {
	switch job.Status.Phase {
	case schedulingv1alpha1.PodMigrationJobSucceeded, schedulingv1alpha1.PodMigrationJobFailed, schedulingv1alpha1.PodMigrationJobAborted:
		return false
	}
	return job.DeletionTimestamp == nil
}

// targetOf a job: where its pod is, or is planned to be.
func targetOf(job *schedulingv1alpha1.PodMigrationJob) string {
	if job.Status.NodeName != "" {
		return job.Status.NodeName
	}
	return job.Annotations[extension.AnnotationTargetNode]
}

// arrivals are the pods that jobs move to a node.
func arrivals(jobs []schedulingv1alpha1.PodMigrationJob, node string) []string {
	var names []string
	for i := range jobs {
		if ref := jobs[i].Spec.PodRef; ref != nil && active(&jobs[i]) && targetOf(&jobs[i]) == node {
			names = append(names, types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}.String())
		}
	}
	return names
}
