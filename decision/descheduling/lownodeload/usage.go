package lownodeload

import (
	"fmt"
	"math"
	"time"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/freshness"
	"koordinator.sh/koord/decision/descheduling/nodeload"
	"koordinator.sh/koord/decision/scheduling/nodefit"
)

const (
	// clockSkew is how far in the future an update time may lie.
	clockSkew = time.Minute
	// implausible is the multiple of a node's capacity beyond which a usage cannot be true.
	implausible = 10
)

type podKey struct{ namespace, name string }

// nodeState is a node in a pass. Amounts are by the index of the pool's resources, in milliCPU or the resource's own unit.
type nodeState struct {
	*Node
	pool     *pool
	capacity []int64
	// present is true for a resource that the node lists, even with none of it.
	present []bool
	// usage and prodUsage change as pods leave and arrive. prodUsage is nil without thresholds for prod.
	usage, prodUsage []int64
	node, prod       limits
	class            Class
	// problem says why the node decides nothing; empty when it does.
	problem string
	history NodeHistory
}

// limits are thresholds as amounts and in percent.
type limits struct {
	low, high               []int64
	lowPercent, highPercent []float64
}

// read fills in what a node has and uses.
func (s *nodeState) read(in *Input, pods map[podKey]bool) {
	s.readCapacity(in.Policy.requests)
	if in.Policy.requests {
		s.usage = make([]int64, len(s.pool.resources))
		for _, pod := range s.Pods {
			addInto(s.usage, s.requestsOf(pod))
		}
		return
	}
	if s.problem = unusable(s.Metric, in.Now, in.Policy.expiration); s.problem != "" {
		return
	}
	s.problem = s.readUsage(pods)
}

// readCapacity takes raw allocatable: amplified resources do not make a node bigger.
func (s *nodeState) readCapacity(plain bool) {
	list := s.Status.Allocatable
	if plain && len(list) == 0 {
		list = s.Status.Capacity
	}
	var raw corev1.ResourceList
	if !plain && s.Annotations[extension.AnnotationNodeRawAllocatable] != "" {
		raw, _ = extension.GetNodeRawAllocatable(s.Annotations) // one that cannot be read amplifies nothing
	}
	s.capacity, s.present = make([]int64, len(s.pool.resources)), make([]bool, len(s.pool.resources))
	for i, name := range s.pool.resources {
		quantity, set := raw[name]
		if !set {
			quantity, set = list[name]
		}
		s.present[i] = set
		s.capacity[i] = max(nodeload.AmountOf(name, quantity), 0)
	}
}

// unusable says why a NodeMetric cannot be used; empty when it can.
func unusable(metric *nodeload.Report, now time.Time, expiration time.Duration) string {
	switch {
	case metric == nil:
		return "there is no NodeMetric"
	case metric.UpdateTime.IsZero():
		return "its NodeMetric was never reported"
	}
	at := metric.UpdateTime
	switch age := freshness.Seconds(now, at); {
	case age >= int64(expiration/time.Second):
		return fmt.Sprintf("its NodeMetric is %s old, expired after %s", freshness.Distance(now, at, time.Second), expiration)
	case age < -int64(clockSkew/time.Second):
		return fmt.Sprintf("its NodeMetric is %s ahead of the clock", freshness.Distance(now, at, time.Second))
	case !metric.HasUsage:
		return "its NodeMetric reports no usage"
	}
	return ""
}

// readUsage adds up what is used by the system and by the pods that are still on the node. It returns why the NodeMetric cannot be true.
func (s *nodeState) readUsage(pods map[podKey]bool) string {
	clear(pods)
	for _, pod := range s.Pods {
		pods[podKey{pod.Namespace, pod.Name}] = s.pool.prod && extension.PodPriorityClassWithDefault(pod) == extension.PriorityProd
	}
	count := len(s.pool.resources)
	reported := make([]bool, count)
	s.usage = make([]int64, count)
	if s.pool.prod {
		s.prodUsage = make([]int64, count)
	}
	one := make([]int64, count)
	if problem := s.readList("systemUsage", s.Metric.System, one, reported); problem != "" {
		return problem
	}
	addInto(s.usage, one)
	for i := range s.Metric.Pods {
		reportedPod := &s.Metric.Pods[i]
		prod, present := pods[podKey{reportedPod.Namespace, reportedPod.Name}]
		if !present {
			continue // it has left since
		}
		delete(pods, podKey{reportedPod.Namespace, reportedPod.Name}) // a second report of the same pod is none
		if problem := s.readList("podUsage", reportedPod.Usage, one, reported); problem != "" {
			return problem + " for pod " + reportedPod.Namespace + "/" + reportedPod.Name
		}
		addInto(s.usage, one)
		if prod {
			addInto(s.prodUsage, one)
		}
	}
	return s.complete(reported)
}

// complete counts pods, and says what is missing that every node has.
func (s *nodeState) complete(reported []bool) string {
	for i, name := range s.pool.resources {
		switch name {
		case corev1.ResourcePods:
			s.usage[i] = int64(len(s.Pods))
			for _, pod := range s.Pods {
				if s.pool.prod && extension.PodPriorityClassWithDefault(pod) == extension.PriorityProd {
					s.prodUsage[i]++
				}
			}
		case corev1.ResourceCPU, corev1.ResourceMemory:
			if s.capacity[i] == 0 {
				return fmt.Sprintf("the node has no allocatable %s", name)
			}
			if _, total := s.Metric.Node.Get(name); !reported[i] && !total {
				return fmt.Sprintf("its NodeMetric reports no %s usage", name)
			}
		}
	}
	return ""
}

// readList reads the amounts of a list, and says which cannot be true.
func (s *nodeState) readList(what string, list nodeload.Amounts, into []int64, reported []bool) string {
	for i, name := range s.pool.resources {
		value, set := list.Get(name)
		into[i] = value
		reported[i] = reported[i] || set
		if into[i] < 0 {
			return fmt.Sprintf("its NodeMetric has a negative %s of %s", what, name)
		}
		if s.capacity[i] > 0 && into[i]/implausible > s.capacity[i] {
			return fmt.Sprintf("its NodeMetric has a %s of more than %d times the node's %s", what, implausible, name)
		}
	}
	return ""
}

// podUsages are the usages of the pods of a node, in their order; nil for a pod of which none is known.
func (s *nodeState) podUsages(requests bool) [][]int64 {
	usages := make([][]int64, len(s.Pods))
	if requests {
		for i, pod := range s.Pods {
			usages[i] = s.requestsOf(pod)
		}
		return usages
	}
	index := make(map[podKey]int, len(s.Pods))
	for i, pod := range s.Pods {
		index[podKey{pod.Namespace, pod.Name}] = i
	}
	for k := range s.Metric.Pods {
		reported := &s.Metric.Pods[k]
		if len(reported.Usage) == 0 {
			continue
		}
		if i, present := index[podKey{reported.Namespace, reported.Name}]; present && usages[i] == nil {
			usages[i] = s.amountsOf(reported.Usage.Get)
		}
	}
	return usages
}

func (s *nodeState) requestsOf(pod *corev1.Pod) []int64 {
	return s.amountsOf(requested(nodefit.RequestsOf(pod)))
}

func requested(list corev1.ResourceList) func(corev1.ResourceName) (int64, bool) {
	return func(name corev1.ResourceName) (int64, bool) {
		quantity, set := list[name]
		return nodeload.AmountOf(name, quantity), set
	}
}

// amountsOf reads a list of one pod, which is one of the node's pods.
func (s *nodeState) amountsOf(get func(corev1.ResourceName) (int64, bool)) []int64 {
	amounts := make([]int64, len(s.pool.resources))
	for i, name := range s.pool.resources {
		if name == corev1.ResourcePods {
			amounts[i] = 1
			continue
		}
		amounts[i], _ = get(name)
	}
	return amounts
}

// percentOf is an amount in percent of what the node has.
func (s *nodeState) percentOf(usage []int64, i int) float64 {
	if s.capacity[i] <= 0 {
		return 0
	}
	return float64(usage[i]) / float64(s.capacity[i]) * 100
}

func addInto(sum, values []int64) {
	for i, value := range values {
		sum[i] = add(sum[i], value)
	}
}

func subtractFrom(sum, values []int64) {
	for i, value := range values {
		sum[i] = add(sum[i], -value)
	}
}

// add stays at the ends of the range of int64.
func add(a, b int64) int64 {
	switch {
	case b > 0 && a > math.MaxInt64-b:
		return math.MaxInt64
	case b < 0 && a < math.MinInt64-b:
		return math.MinInt64
	}
	return a + b
}
