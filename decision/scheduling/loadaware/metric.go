package loadaware

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

const (
	// defaultReportInterval is how often koordlet reports unless the NodeMetric says otherwise.
	defaultReportInterval = time.Minute
	// clockSkew is how far in the future an update time may lie before the NodeMetric is distrusted.
	clockSkew = time.Minute
	// implausible is the multiple of a node's capacity beyond which a usage cannot be true.
	implausible = 10
)

type podKey struct{ namespace, name string }

// metric digests a NodeMetric.
type metric struct {
	// object is false when there is no NodeMetric at all.
	object bool
	name   string
	// updateTime is zero when nothing was ever reported.
	updateTime time.Time
	interval   time.Duration
	// problem says why the values cannot be trusted; such a NodeMetric counts as absent.
	problem string
	// latest is nil when nothing was measured.
	latest     []int64
	prod       []int64
	aggregated []int64
	score      []int64
	// window and scoreWindow are those that were found; the zero value means the latest usage stood in.
	window, scoreWindow window
	pods                map[podKey]reportedPod
}

// reportedPod is the usage of one pod in a NodeMetric.
type reportedPod struct {
	used []int64
	// prod is true when the NodeMetric counts the pod as one of the prod band.
	prod bool
}

// state of a NodeMetric at one moment.
type state int

const (
	// usable means the values may be compared.
	usable state = iota
	// expired means too old, or never reported.
	expired
	// unknown means absent or not to be trusted.
	unknown
)

// stateAt says whether the metric can be used at a moment.
func (m *metric) stateAt(now time.Time, expiration time.Duration) state {
	switch {
	case !m.object || m.problem != "":
		return unknown
	case m.updateTime.IsZero():
		return expired
	}
	switch age := now.Sub(m.updateTime); {
	case age < -clockSkew:
		return unknown
	case age >= expiration:
		return expired
	case m.latest == nil:
		return unknown
	}
	return usable
}

// observedAt is updateTime as a trace has it; nil when nothing was ever reported.
func (m *metric) observedAt() *metav1.Time {
	if m.updateTime.IsZero() {
		return nil
	}
	return &metav1.Time{Time: m.updateTime}
}

// coveredUntil is the moment before which an assigned pod is surely part of the reported usage.
func (m *metric) coveredUntil() time.Time {
	if m.updateTime.IsZero() {
		return time.Time{}
	}
	return m.updateTime.Add(-m.interval)
}

func (p *Policy) readMetric(object *slov1alpha1.NodeMetric, node *Node, nodeOnly bool) metric {
	if object == nil {
		return metric{}
	}
	m := metric{object: true, name: object.Name, interval: defaultReportInterval}
	if reported := object.Status.UpdateTime; reported != nil {
		m.updateTime = reported.Time
	}
	if policy := object.Spec.CollectPolicy; policy != nil && policy.ReportIntervalSeconds != nil && *policy.ReportIntervalSeconds > 0 {
		m.interval = time.Duration(min(*policy.ReportIntervalSeconds, MaxSeconds)) * time.Second
	}
	if object.Status.NodeMetric == nil {
		return m
	}
	usage := object.Status.NodeMetric
	m.latest = p.amounts(usage.NodeUsage.ResourceList)
	m.distrust(p.implausible(m.latest, node.capacity), "nodeUsage")
	m.aggregated, m.window = p.percentile(usage, node.thresholds.window, m.latest)
	m.score, m.scoreWindow = p.percentile(usage, p.scoreWindow, m.latest)
	for _, percentile := range [][]int64{m.aggregated, m.score} {
		m.distrust(p.implausible(percentile, node.capacity), "aggregatedNodeUsages")
	}
	if nodeOnly {
		p.checkPods(&m, object, node.capacity)
	} else {
		p.readPods(&m, object, node.capacity)
	}
	return m
}

// readPods sums the usage of prod pods and remembers what every pod uses. Pods that are reported and no longer assigned
// count, as they do in the usage of the node: they ran when it was measured.
func (p *Policy) readPods(m *metric, object *slov1alpha1.NodeMetric, capacity []int64) {
	m.prod = make([]int64, len(p.resources))
	m.pods = make(map[podKey]reportedPod, len(object.Status.PodsMetric))
	if p.args.ProdUsageIncludeSys {
		addInto(m.prod, p.systemUsage(m, object, capacity))
	}
	vectors := make([]int64, len(p.resources)*len(object.Status.PodsMetric))
	for _, pod := range object.Status.PodsMetric {
		if pod == nil || len(pod.PodUsage.ResourceList) == 0 {
			continue // listed, but not measured
		}
		used := vectors[:len(p.resources):len(p.resources)]
		vectors = vectors[len(p.resources):]
		p.amountsInto(used, pod.PodUsage.ResourceList)
		m.distrust(p.implausible(used, capacity), "podUsage of ", pod.Namespace, "/", pod.Name)
		m.pods[podKey{pod.Namespace, pod.Name}] = reportedPod{used: used, prod: pod.Priority == extension.PriorityProd}
	}
	for _, pod := range m.pods {
		if pod.prod {
			addInto(m.prod, pod.used)
		}
	}
}

// checkPods finds the problems that readPods finds, and keeps nothing else.
func (p *Policy) checkPods(m *metric, object *slov1alpha1.NodeMetric, capacity []int64) {
	if p.args.ProdUsageIncludeSys {
		p.systemUsage(m, object, capacity)
	}
	used := make([]int64, len(p.resources))
	for _, pod := range object.Status.PodsMetric {
		if pod == nil || len(pod.PodUsage.ResourceList) == 0 {
			continue
		}
		clear(used)
		p.amountsInto(used, pod.PodUsage.ResourceList)
		m.distrust(p.implausible(used, capacity), "podUsage of ", pod.Namespace, "/", pod.Name)
	}
}

func (p *Policy) systemUsage(m *metric, object *slov1alpha1.NodeMetric, capacity []int64) []int64 {
	system := p.amounts(object.Status.NodeMetric.SystemUsage.ResourceList)
	m.distrust(p.implausible(system, capacity), "systemUsage")
	return system
}

// percentile finds a percentile of a window, the longest one when the window has no length. When it was not reported,
// the latest usage stands in, so that missing data does not let more pods pass.
func (p *Policy) percentile(usage *slov1alpha1.NodeMetricInfo, want window, latest []int64) ([]int64, window) {
	var found corev1.ResourceList
	got := window{}
	if want.aggregation == "" {
		return latest, got
	}
	for _, aggregated := range usage.AggregatedNodeUsages {
		resources, reported := aggregated.Usage[extension.AggregationType(want.aggregation)]
		duration := aggregated.Duration.Duration
		if !reported || len(resources.ResourceList) == 0 || (want.duration > 0 && duration != want.duration) {
			continue
		}
		if found == nil || duration > got.duration {
			found, got = resources.ResourceList, window{want.aggregation, duration}
		}
	}
	if found == nil {
		return latest, window{}
	}
	return p.amounts(found), got
}

// implausible names the first value that cannot be true: negative, or ten times what the node has.
func (p *Policy) implausible(values, capacity []int64) string {
	for i, value := range values {
		if value < 0 {
			return fmt.Sprintf(" has a negative %s", p.resources[i])
		}
		if capacity[i] > 0 && value > implausible*capacity[i] {
			return fmt.Sprintf(" has more than %d times the node's %s", implausible, p.resources[i])
		}
	}
	return ""
}

// distrust keeps the first problem of a NodeMetric, with the parts of the name of the field that has it. The name is only made for a problem:
// there is one for every pod of every node.
func (m *metric) distrust(problem string, field ...string) {
	if problem != "" && m.problem == "" {
		m.problem = strings.Join(field, "") + problem
	}
}

func addInto(sum, values []int64) {
	for i, value := range values {
		sum[i] += value
	}
}
