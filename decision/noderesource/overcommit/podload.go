package overcommit

import (
	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/podrequest"
)

// podLoad is what the pods above batch hold of a node.
type podLoad struct {
	// used is what they use: as measured; by request where nothing is measured, and for the cpu of LSE pods.
	used podrequest.Amount
	// requested is the sum of their plain requests.
	requested podrequest.Amount
	// larger is the sum of the larger of both, pod by pod.
	larger podrequest.Amount
	// prodRequested is the plain requests of pods that are neither mid, batch nor free.
	prodRequested podrequest.Amount
	// unmeasured is the part of used that is no measurement but requests of pods that are not measured.
	unmeasured podrequest.Amount
	// parts, pod by pod, when they were asked for.
	parts []podPart
}

// podPart is one pod's share of the load.
type podPart struct {
	// pod is nil for a pod that is measured but gone.
	pod *corev1.Pod
	// reading is the index of the pod's measurement, -1 when there is none.
	reading                 int
	used, requested, larger podrequest.Amount
	prod                    bool
	// held says that the pod counts with its request although it is measured.
	held bool
}

type podKey struct{ namespace, name string }

// gather adds up the pods of a node, and those that are measured but gone: they may still run.
func gather(in *NodeInput, m *measurement, record bool) podLoad {
	var load podLoad
	byName := make(map[podKey]int, len(m.pods))
	seen := make([]bool, len(m.pods))
	for i := range m.pods {
		key := podKey{m.pods[i].info.Namespace, m.pods[i].info.Name}
		if before, twice := byName[key]; twice {
			seen[before] = true
		}
		byName[key] = i
	}
	for _, pod := range in.Pods {
		if pod == nil || !podrequest.Consumes(pod) {
			continue
		}
		index, measured := byName[podKey{pod.Namespace, pod.Name}]
		if measured {
			seen[index] = true
		} else {
			index = -1
		}
		requests := podrequest.Of(pod)
		if requests.HighPriority() {
			load.add(partOf(pod, requests, m, index), record)
		}
	}
	for i := range m.pods {
		if seen[i] {
			continue
		}
		if podrequest.HighPriority(m.pods[i].info.Priority) {
			used := m.pods[i].used
			load.add(podPart{reading: i, used: used, larger: used}, record)
		}
	}
	return load
}

// partOf is what one pod above batch counts with. A pod that is not measured counts with its request, mid resources
// included, under every policy.
func partOf(pod *corev1.Pod, requests podrequest.Requests, m *measurement, index int) podPart {
	part := podPart{pod: pod, reading: index, requested: requests.Requests.Plain, prod: requests.Band != extension.PriorityMid}
	if index < 0 {
		part.used = requests.Requests.Plain.Add(requests.Requests.Mid)
		part.larger = part.used
		return part
	}
	part.used = m.pods[index].used
	part.larger = podrequest.Amount{
		MilliCPU: max(part.used.MilliCPU, part.requested.MilliCPU),
		Memory:   max(part.used.Memory, part.requested.Memory),
	}
	if requests.QoS == extension.QoSLSE {
		// The CPUs of an LSE pod are exclusive: they are not lent, however idle they are.
		part.used.MilliCPU, part.held = part.requested.MilliCPU, true
	}
	return part
}

func (l *podLoad) add(part podPart, record bool) {
	l.used = l.used.Add(part.used)
	l.requested = l.requested.Add(part.requested)
	l.larger = l.larger.Add(part.larger)
	if part.reading < 0 {
		l.unmeasured = l.unmeasured.Add(part.used)
	}
	if part.prod {
		l.prodRequested = l.prodRequested.Add(part.requested)
	}
	if record {
		l.parts = append(l.parts, part)
	}
}
