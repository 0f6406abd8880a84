package objects

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/podstate"
	"koordinator.sh/koord/decision/core/unknown"
	"koordinator.sh/koord/decision/scheduling/loadaware"
)

// PodSnapshot is what was read of the cluster to explain one pod. None of it is changed.
type PodSnapshot struct {
	// Pod in question, whole.
	Pod *corev1.Pod
	// Nodes of the cluster.
	Nodes []corev1.Node
	// Pods of all nodes; finished and unbound ones do not count.
	Pods []corev1.Pod
	// Metrics of the nodes.
	Metrics []slov1alpha1.NodeMetric
	// Args of load-aware scheduling; nil are the defaults.
	Args *loadaware.Args
	// LoadAware is false where there are no NodeMetrics to evaluate load-aware scheduling by.
	LoadAware bool
	// Profiles are the names of the scheduler's profiles; empty stands for koord-scheduler.
	Profiles []string
	// Events about the pod.
	Events []corev1.Event
	// Unknown are the inputs that could not be read. No node is said to have room, and none to lack it, for what was not read.
	Unknown unknown.Inputs
	// Missing says what could not be read, why, and what follows.
	Missing []string
	// MaxNodes bounds the nodes listed in each group; default 5.
	MaxNodes int
	// History was asked for; objects hold none, which the answer says.
	History bool
	// Now is the moment of the answer.
	Now time.Time
}

// onNode is what counts on one node.
type onNode struct {
	pods   []*corev1.Pod
	metric *slov1alpha1.NodeMetric
}

// byNode sorts pods and metrics to their nodes.
func (s *PodSnapshot) byNode() map[string]*onNode {
	index := make(map[string]*onNode, len(s.Nodes))
	at := func(name string) *onNode {
		found, ok := index[name]
		if !ok {
			found = &onNode{}
			index[name] = found
		}
		return found
	}
	for i := range s.Pods {
		pod := &s.Pods[i]
		if pod.Spec.NodeName != "" && !podstate.Ended(pod) && pod.UID != s.Pod.UID {
			node := at(pod.Spec.NodeName)
			node.pods = append(node.pods, pod)
		}
	}
	for i := range s.Metrics {
		at(s.Metrics[i].Name).metric = &s.Metrics[i]
	}
	return index
}
