package overcommit

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/freshness"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/core/unknown"
)

// absurdFactor is how many times its capacity nothing on a node can use: more is a broken agent.
const absurdFactor = 2

// measurement is a NodeMetric that was looked through.
type measurement struct {
	facts diagnosticsv1alpha1.MetricFacts
	// age of the report; negative when it is from the future.
	age time.Duration
	// node is the use of the whole node, system of what is no pod.
	node, system podrequest.Amount
	// systemDerived says that system was not reported but computed from the rest.
	systemDerived bool
	// pods in the order of the report.
	pods []reading
	// reclaimable is the predicted unused part of prod requests; zero when there is no prediction.
	reclaimable podrequest.Amount
}

// reading is the use of one pod.
type reading struct {
	info *slov1alpha1.PodMetricInfo
	used podrequest.Amount
}

// trusted reports whether the measurement may be used at all.
func (m *measurement) trusted() bool {
	return m.facts.State == diagnosticsv1alpha1.MetricFresh || m.facts.State == diagnosticsv1alpha1.MetricStale
}

// AssessMetric says how old and how good a node's NodeMetric is.
func AssessMetric(in NodeInput) diagnosticsv1alpha1.MetricFacts {
	total := podrequest.Amount{}
	if in.Node != nil {
		total = totalOf(in.Node)
	}
	return measure(&in, total).facts
}

func totalOf(node *corev1.Node) podrequest.Amount {
	amount, _ := amountIn(node.Status.Capacity)
	return amount
}

// measure looks through a NodeMetric. Reports that are absent, impossible or too old come back untrusted.
func measure(in *NodeInput, total podrequest.Amount) measurement {
	m := measurement{facts: diagnosticsv1alpha1.MetricFacts{
		State: diagnosticsv1alpha1.MetricAbsent, ReportIntervalSeconds: in.reportInterval(),
	}}
	unconfigured := in.Unknown.Because(unknown.Configuration)
	if unconfigured != "" {
		m.facts.ReportIntervalSeconds = in.toldInterval()
	}
	if why := in.Unknown.Because(unknown.NodeMetrics); why != "" {
		m.facts.State, m.facts.Problem = diagnosticsv1alpha1.MetricUnknown, why
		return m
	}
	m.facts.NotEnforcing = notEnforcing(in.Metric)
	if in.Metric == nil || in.Metric.Status.UpdateTime == nil || in.Metric.Status.UpdateTime.IsZero() || in.Metric.Status.NodeMetric == nil {
		return m
	}
	m.facts.UpdateTime = in.Metric.Status.UpdateTime
	m.age = in.Now.Sub(m.facts.UpdateTime.Time)
	fresh := 2 * max(seconds(in.reportInterval()), freshness.MinReportInterval)
	switch {
	case m.age < -fresh:
		m.facts.State = diagnosticsv1alpha1.MetricInvalid
		m.facts.Problem = fmt.Sprintf("updateTime is %s in the future", freshness.Distance(in.Now, m.facts.UpdateTime.Time, time.Second))
		return m
	case m.age > degradeAfter(&in.Strategy.Strategy) && unconfigured != "":
		m.facts.State, m.facts.Problem = diagnosticsv1alpha1.MetricUnknown, unconfigured+", which says when it is too old"
		return m
	case m.age > degradeAfter(&in.Strategy.Strategy):
		m.facts.State = diagnosticsv1alpha1.MetricExpired
		return m
	case m.age > fresh:
		m.facts.State = diagnosticsv1alpha1.MetricStale
	default:
		m.facts.State = diagnosticsv1alpha1.MetricFresh
	}
	if problem := m.read(&in.Metric.Status, total); problem != "" {
		m.facts.State, m.facts.Problem = diagnosticsv1alpha1.MetricInvalid, problem
	}
	return m
}

// read takes the amounts out of a report and returns what cannot be about them.
func (m *measurement) read(status *slov1alpha1.NodeMetricStatus, total podrequest.Amount) string {
	usage := status.NodeMetric.NodeUsage.ResourceList
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		if _, ok := usage[name]; !ok {
			return fmt.Sprintf("nodeUsage has no %s", name)
		}
	}
	var problem string
	if m.node, problem = checked(usage, total); problem != "" {
		return "nodeUsage: " + problem
	}
	m.pods = make([]reading, 0, len(status.PodsMetric))
	var onPods podrequest.Amount
	for _, info := range status.PodsMetric {
		if info == nil {
			continue
		}
		used, problem := checked(info.PodUsage.ResourceList, total)
		if problem != "" {
			return fmt.Sprintf("use of pod %s/%s: %s", info.Namespace, info.Name, problem)
		}
		onPods = onPods.Add(used)
		m.pods = append(m.pods, reading{info: info, used: used})
	}
	for _, app := range status.HostApplicationMetric {
		if app == nil {
			continue
		}
		used, problem := checked(app.Usage.ResourceList, total)
		if problem != "" {
			return fmt.Sprintf("use of host application %s: %s", app.Name, problem)
		}
		onPods = onPods.Add(used)
	}
	if status.ProdReclaimableMetric != nil {
		var negative bool
		if m.reclaimable, negative = amountIn(status.ProdReclaimableMetric.Resource.ResourceList); negative {
			return "prodReclaimable is negative"
		}
	}
	return m.readSystem(status.NodeMetric.SystemUsage.ResourceList, onPods, total)
}

// readSystem takes the use of what is no pod; where it is not reported, the node's use less that of the known is taken.
func (m *measurement) readSystem(list corev1.ResourceList, known, total podrequest.Amount) string {
	var problem string
	if m.system, problem = checked(list, total); problem != "" {
		return "systemUsage: " + problem
	}
	if _, ok := list[corev1.ResourceCPU]; !ok {
		m.system.MilliCPU, m.systemDerived = max(m.node.MilliCPU-known.MilliCPU, 0), true
	}
	if _, ok := list[corev1.ResourceMemory]; !ok {
		m.system.Memory, m.systemDerived = max(m.node.Memory-known.Memory, 0), true
	}
	return ""
}

// checked reads an amount and says what cannot be about it.
func checked(list corev1.ResourceList, total podrequest.Amount) (podrequest.Amount, string) {
	amount, negative := amountIn(list)
	switch {
	case negative:
		return amount, "is negative"
	case total.MilliCPU > 0 && amount.MilliCPU/absurdFactor > total.MilliCPU:
		return amount, fmt.Sprintf("%s on a node of %s", formatCPU(amount.MilliCPU), formatCPU(total.MilliCPU))
	case total.Memory > 0 && amount.Memory/absurdFactor > total.Memory:
		return amount, fmt.Sprintf("%s on a node of %s", formatBytes(amount.Memory), formatBytes(total.Memory))
	}
	return amount, ""
}

// amountIn reads cpu and memory; absent ones are zero.
func amountIn(list corev1.ResourceList) (amount podrequest.Amount, negative bool) {
	if cpu, ok := list[corev1.ResourceCPU]; ok {
		amount.MilliCPU = podrequest.Milli(cpu)
	}
	if memory, ok := list[corev1.ResourceMemory]; ok {
		amount.Memory = podrequest.Whole(memory)
	}
	return amount, amount.MilliCPU < 0 || amount.Memory < 0
}

// hostApplications adds up the applications outside of Kubernetes whose priority is above a tier's. One without a
// priority counts as prod: what is not known must not be given away.
func hostApplications(metric *slov1alpha1.NodeMetric, mid bool, visit func(*slov1alpha1.HostApplicationMetricInfo, podrequest.Amount)) podrequest.Amount {
	var sum podrequest.Amount
	for _, app := range metric.Status.HostApplicationMetric {
		if app == nil || !podrequest.HighPriority(app.Priority) || mid && app.Priority == extension.PriorityMid {
			continue
		}
		used, _ := amountIn(app.Usage.ResourceList)
		sum = sum.Add(used)
		if visit != nil {
			visit(app, used)
		}
	}
	return sum
}

// EachPodUse visits what the pods of one NodeMetric use, and says how far that may be believed: nothing is visited of a
// report that is absent or cannot be. Age is judged by the built-in limits.
func EachPodUse(metric *slov1alpha1.NodeMetric, now time.Time, visit func(*slov1alpha1.PodMetricInfo, podrequest.Amount)) diagnosticsv1alpha1.MetricFacts {
	m := measure(&NodeInput{Metric: metric, Now: now}, podrequest.Amount{})
	for _, pod := range m.pods {
		if m.trusted() {
			visit(pod.info, pod.used)
		}
	}
	return m.facts
}
