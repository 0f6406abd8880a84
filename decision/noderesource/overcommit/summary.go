package overcommit

import (
	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/capacity"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/core/unknown"
)

// Summary is who holds and who uses a node, band by band.
type Summary struct {
	// Metric says how old and how good the measurements are.
	Metric diagnosticsv1alpha1.MetricFacts
	// Measured is true when the used amounts below may be believed; they are zero otherwise.
	Measured bool
	// NodeUsed is the whole node's use, SystemUsed that of nothing that is a pod.
	NodeUsed, SystemUsed podrequest.Amount
	// ProdUsed is the use of pods that are neither mid, batch nor free.
	ProdUsed, MidUsed, BatchUsed, FreeUsed podrequest.Amount
	// Reclaimable is the prediction of what prod pods requested and will not use; nil when there is none.
	Reclaimable *podrequest.Amount
	// ProdRequested is plain requests of pods that are neither mid, batch nor free. MidRequested and BatchRequested are
	// requests of those tiers' own resources.
	ProdRequested, MidRequested, BatchRequested podrequest.Amount
	// Pods that neither succeeded nor failed.
	Pods int32
	// Listed is false when the pods could not be listed; their number and what they request are then zero and mean nothing.
	Listed bool
	// Capacity of the node.
	Capacity capacity.Capacity
}

// PodRequests is what a summary needs of a pod: its name, its node and what it requests. It takes a tenth of the memory of a pod.
type PodRequests struct {
	Namespace, Name, Node string
	podrequest.Requests
}

// RequestsOf is what a summary needs of a pod, the zero value for one that holds nothing on a node.
func RequestsOf(pod *corev1.Pod) PodRequests {
	if pod.Spec.NodeName == "" || !podrequest.Consumes(pod) {
		return PodRequests{}
	}
	return PodRequests{Namespace: pod.Namespace, Name: pod.Name, Node: pod.Spec.NodeName, Requests: podrequest.Of(pod)}
}

// RequestsOfAll is RequestsOf of each pod.
func RequestsOfAll(pods []corev1.Pod) []PodRequests {
	all := make([]PodRequests, len(pods))
	for i := range pods {
		all[i] = RequestsOf(&pods[i])
	}
	return all
}

// Summarize adds up a node, whose pods are given as what they request: the input's own are not read. A nil node gives the zero Summary.
func Summarize(in NodeInput, pods []*PodRequests) Summary {
	if in.Node == nil {
		return Summary{Metric: diagnosticsv1alpha1.MetricFacts{State: diagnosticsv1alpha1.MetricAbsent}}
	}
	s := Summary{Capacity: capacity.Of(in.Node), Listed: !in.Unknown.Has(unknown.Pods)}
	m := measure(&in, s.Capacity.Total)
	s.Metric, s.Measured = m.facts, m.trusted()
	bands := s.addRequests(pods, s.Measured)
	if !s.Measured {
		return s
	}
	s.NodeUsed, s.SystemUsed = m.node, m.system
	for _, app := range in.Metric.Status.HostApplicationMetric {
		if app != nil {
			used, _ := amountIn(app.Usage.ResourceList)
			s.SystemUsed = s.SystemUsed.Add(used)
		}
	}
	for i := range m.pods {
		info := m.pods[i].info
		band, known := bands[podKey{info.Namespace, info.Name}]
		if !known {
			band = info.Priority
		}
		used := s.usedBy(band)
		*used = used.Add(m.pods[i].used)
	}
	if in.Metric.Status.ProdReclaimableMetric != nil {
		s.Reclaimable = &m.reclaimable
	}
	return s
}

// addRequests adds up the pods' requests, and remembers their bands when they are needed.
func (s *Summary) addRequests(pods []*PodRequests, remember bool) map[podKey]extension.PriorityClass {
	var bands map[podKey]extension.PriorityClass
	if remember {
		bands = make(map[podKey]extension.PriorityClass, len(pods))
	}
	for _, pod := range pods {
		if pod.Node == "" {
			continue
		}
		s.Pods++
		s.MidRequested = s.MidRequested.Add(pod.Requests.Requests.Mid)
		s.BatchRequested = s.BatchRequested.Add(pod.Requests.Requests.Batch)
		if pod.HighPriority() && pod.Band != extension.PriorityMid {
			s.ProdRequested = s.ProdRequested.Add(pod.Requests.Requests.Plain)
		}
		if remember {
			bands[podKey{pod.Namespace, pod.Name}] = pod.Band
		}
	}
	return bands
}

func (s *Summary) usedBy(band extension.PriorityClass) *podrequest.Amount {
	switch band {
	case extension.PriorityMid:
		return &s.MidUsed
	case extension.PriorityBatch:
		return &s.BatchUsed
	case extension.PriorityFree:
		return &s.FreeUsed
	}
	return &s.ProdUsed
}
