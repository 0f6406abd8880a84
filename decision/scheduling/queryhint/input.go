package queryhint

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/capacity"
	"koordinator.sh/koord/decision/scheduling/nodefit"
)

// Role of a pod in its query engine.
type Role string

// Roles of pods.
const (
	Worker Role = "worker"
	Cache  Role = "cache"
)

// RoleOf reads from labels which engine a pod belongs to, and as what; false for a pod of none. A pod with both labels is a worker.
func RoleOf(labels map[string]string) (engine string, role Role, ok bool) {
	if engine = labels[extension.LabelQueryWorker]; engine != "" {
		return engine, Worker, true
	}
	if engine = labels[extension.LabelQueryCache]; engine != "" {
		return engine, Cache, true
	}
	return "", "", false
}

// Input is a pod and the nodes it may get.
type Input struct {
	Now      time.Time
	Settings Settings
	Engine   string
	Role     Role
	// Seed orders nodes between which nothing else decides, so that hints that do not know of each other name different ones first.
	Seed  string
	Nodes []Node
}

// Node is what is known of a node.
type Node struct {
	Name string
	// Closed is true where the pod may not run.
	Closed bool
	Memory
	// Workers and Caches of the engine on the node, with those that were given it and do not run yet.
	Workers, Caches int32
}

// Memory of a node, in bytes.
type Memory struct {
	Capacity, Used int64
	// Measured is when Used was; zero where it was not.
	Measured time.Time
	// Growth is by how much more is predicted to be used within Horizon; nil where nothing predicts.
	Growth *int64
}

// MemoryOf reads the memory of a node and its last measurement, which may be nil.
func MemoryOf(node *corev1.Node, metric *slov1alpha1.NodeMetric) Memory {
	out := Memory{Capacity: capacity.Of(node).Total.Memory}
	if metric == nil || metric.Status.UpdateTime == nil || metric.Status.NodeMetric == nil {
		return out
	}
	if used, ok := metric.Status.NodeMetric.NodeUsage.ResourceList[corev1.ResourceMemory]; ok {
		out.Used, out.Measured = used.Value(), metric.Status.UpdateTime.Time
	}
	return out
}

// Closed is true for a node that the pod may not get, whatever is free there.
func Closed(pod *nodefit.Pod, node *corev1.Node) bool {
	if node.DeletionTimestamp != nil || !pod.Selects(node) {
		return true
	}
	if _, cordoned := nodefit.Cordon(pod.Pod, node); cordoned {
		return true
	}
	return len(nodefit.Untolerated(pod.Pod, node, false)) > 0
}
