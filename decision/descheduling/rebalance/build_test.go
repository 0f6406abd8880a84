package rebalance

import (
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// world is an input under construction, of nodes of 100 CPU and 100 of memory.
type world struct{ Input }

func newWorld() *world {
	return &world{Input{Args: DefaultArgs(), Now: noon, Resources: []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}}}
}

// node adds a node with a load that pods do not account for, and returns its index.
func (w *world) node(cpu, memory float64) int {
	w.Nodes = append(w.Nodes, Node{Name: fmt.Sprintf("node-%d", len(w.Nodes)), Capacity: []float64{100, 100}, Usage: []float64{cpu, memory}})
	return len(w.Nodes) - 1
}

// pod adds a pod of a workload of its own, and its usage to its node.
func (w *world) pod(node int, cpu, memory float64) *Pod {
	name := fmt.Sprintf("default/pod-%d", len(w.Pods))
	w.Workloads = append(w.Workloads, Workload{Key: "Deployment/" + name, Replicas: 2})
	w.Pods = append(w.Pods, Pod{Name: name, Node: node, Workload: len(w.Workloads) - 1, Usage: []float64{cpu, memory}, Started: noon.Add(-48 * time.Hour)})
	w.Nodes[node].Usage[0] += cpu
	w.Nodes[node].Usage[1] += memory
	return &w.Pods[len(w.Pods)-1]
}

// apply makes the moves of a plan and returns the moved pods with new start times.
func (w *world) apply(plan Plan) {
	for _, move := range plan.Moves() {
		pod := &w.Pods[move.Pod]
		for r, used := range pod.Usage {
			w.Nodes[move.From].Usage[r] = max(0, w.Nodes[move.From].Usage[r]-used) // rounding must not leave less than nothing
			w.Nodes[move.To].Usage[r] += used
		}
		pod.Node, pod.Started = move.To, w.Now
	}
}

// scaleDown lowers the usage of pods on nodes that would be above a load, so that no load is cut and each move is worth what its pod uses.
func (w *world) scaleDown(most float64) {
	for r := range w.Resources {
		for n := range w.Nodes {
			factor := most * w.Nodes[n].Capacity[r] / w.Nodes[n].Usage[r]
			if factor >= 1 {
				continue
			}
			w.Nodes[n].Usage[r] *= factor
			for i := range w.Pods {
				if w.Pods[i].Node == n {
					w.Pods[i].Usage[r] *= factor
				}
			}
		}
	}
}

// generated is any input: some nodes unknown or cordoned, pods of few workloads, history, and infeasible pairs.
func generated(t *rapid.T) *world {
	w := newWorld()
	nodes := rapid.IntRange(1, 12).Draw(t, "nodes")
	for range nodes {
		n := w.node(rapid.Float64Range(0, 30).Draw(t, "system cpu"), rapid.Float64Range(0, 30).Draw(t, "system memory"))
		w.Nodes[n].Unschedulable = rapid.IntRange(0, 9).Draw(t, "cordoned") == 0
		if rapid.IntRange(0, 3).Draw(t, "limited") == 0 {
			w.Nodes[n].Limit = []float64{rapid.Float64Range(0.3, 1).Draw(t, "cpu limit"), 0}
		}
		if rapid.IntRange(0, 3).Draw(t, "has best effort") == 0 {
			w.Nodes[n].Reclaimable = []float64{rapid.Float64Range(0, 20).Draw(t, "reclaimable"), 0}
		}
	}
	for range rapid.IntRange(0, 60).Draw(t, "pods") {
		generatedPod(t, w, rapid.IntRange(0, nodes-1).Draw(t, "node"))
	}
	w.Args.MaxMovesPerPass = new(int64(rapid.IntRange(1, 20).Draw(t, "moves per pass")))
	w.Args.MaxMovesPerNode = new(int64(rapid.IntRange(1, 5).Draw(t, "moves per node")))
	w.Args.MaxMovesPerWorkload = new(int64(rapid.IntRange(1, 5).Draw(t, "moves per workload")))
	refused := rapid.IntRange(0, 5).Draw(t, "refused pairs")
	w.Feasible = func(pod, node int, _ []Move) (string, bool) { return "node(s) refused", (pod*31+node*17)%7 >= refused }
	return w
}

func generatedPod(t *rapid.T, w *world, node int) {
	pod := w.pod(node, rapid.Float64Range(0, 25).Draw(t, "cpu"), rapid.Float64Range(0, 20).Draw(t, "memory"))
	pod.Priority = int32(rapid.SampledFrom([]int{0, 5000, 9500}).Draw(t, "priority"))
	pod.EvictionCost = int32(rapid.IntRange(-200, 200).Draw(t, "eviction cost"))
	pod.Readiness = time.Duration(rapid.IntRange(0, 120).Draw(t, "readiness")) * time.Second
	if rapid.IntRange(0, 4).Draw(t, "is a job") == 0 {
		pod.Remaining = new(time.Duration(rapid.IntRange(0, 120).Draw(t, "remaining")) * time.Minute)
	}
	if rapid.IntRange(0, 7).Draw(t, "is protected") == 0 {
		pod.Protected = "PodDisruptionBudget"
	}
	w.Workloads[pod.Workload].Freeze = rapid.SampledFrom([]Freeze{"", "", "", "", Rollout, ScaleDown}).Draw(t, "freeze")
	if len(w.Workloads) > 1 && rapid.Bool().Draw(t, "shares a workload") {
		pod.Workload = rapid.IntRange(0, len(w.Workloads)-1).Draw(t, "workload")
	}
}

// skewed is a large cluster of which some nodes are overutilized.
func skewed(nodes, podsPerNode int, hot float64) *world {
	random := rand.New(rand.NewPCG(1, 2))
	w := newWorld()
	w.Nodes, w.Pods = make([]Node, 0, nodes), make([]Pod, 0, nodes*podsPerNode)
	for n := range nodes {
		w.node(2, 5)
		level := 0.2 + 0.3*random.Float64()
		if random.Float64() < hot {
			level = 0.8 + 0.2*random.Float64()
		}
		for i := range podsPerNode {
			share := level * 100 / float64(podsPerNode) * (0.2 + 1.6*random.Float64())
			pod := w.pod(n, share, share*0.8)
			pod.Workload = (n*podsPerNode + i) / 10
		}
	}
	w.Workloads = w.Workloads[:nodes*podsPerNode/10+1]
	return w
}
