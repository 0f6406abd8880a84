package main

import (
	"time"

	"koordinator.sh/koord/decision/descheduling/loopguard"
)

// Limits of the MigrationController by default.
const (
	migratingPerNode = 2
	workloadInterval = 5 // minutes between two evictions of a workload
	jobMinutes       = 5 // after which a waiting job fails
	podsOfNode       = 110
	schedulerCPU     = 0.65 // LoadAwareScheduling's default thresholds
	schedulerMemory  = 0.95
	minutesPerPass   = 2 // upstream's deschedulingInterval
)

// midnight begins the day.
var midnight = time.Date(2026, 3, 4, 0, 0, 0, 0, time.UTC)

func timeOf(minute int) time.Time { return midnight.Add(time.Duration(minute) * time.Minute) }

// cluster is a day in progress.
type cluster struct {
	*day
	minute int
	// on is the node of each pod, and since when it is there; pods of each node.
	on, since []int
	byNode    [][]int
	// cpu and memory in use now.
	cpu, memory []float64
	// loads are those of all nodes and minutes.
	loads []float64
	// moves so far, by pod and in all.
	moves   []loopguard.Move
	history [][]int // minutes in which a pod was moved
	lastOf  map[string]int
	// hot are the node minutes above the high threshold.
	hot int
	// visited are the nodes that a pod left.
	visited []map[int]bool
	returns int
}

func newCluster(d *day) *cluster {
	c := &cluster{
		day: d, on: make([]int, len(d.pods)), since: make([]int, len(d.pods)), byNode: make([][]int, d.nodes), cpu: make([]float64, d.nodes),
		memory: make([]float64, d.nodes), history: make([][]int, len(d.pods)), lastOf: map[string]int{}, visited: make([]map[int]bool, len(d.pods)),
	}
	for i, pod := range d.pods {
		c.on[i], c.since[i], c.visited[i] = pod.start, -stepsPerDay, map[int]bool{}
		c.byNode[pod.start] = append(c.byNode[pod.start], i)
	}
	return c
}

// measure what is used in this minute.
func (c *cluster) measure() {
	for n, pods := range c.byNode {
		c.cpu[n], c.memory[n] = systemCPU, systemMemory
		for _, i := range pods {
			c.cpu[n] += float64(c.pods[i].cpu[c.minute])
			c.memory[n] += float64(c.pods[i].memory)
		}
		load := min(c.cpu[n]/nodeCPU, 1)
		c.loads = append(c.loads, load)
		if load > 0.75 {
			c.hot++
		}
	}
}

// may says whether a pod may be evicted now, given how many leave its node in this minute.
func (c *cluster) may(pod int, leaving map[int]int) bool {
	last, moved := c.lastOf[c.pods[pod].workload]
	return leaving[c.on[pod]] < migratingPerNode && (!moved || c.minute-last >= workloadInterval)
}

// move a pod.
func (c *cluster) move(pod, target int) {
	from := c.on[pod]
	c.moves = append(c.moves, loopguard.Move{
		Workload: c.pods[pod].workload, Pod: c.pods[pod].name, From: nodeName(from), To: nodeName(target), At: timeOf(c.minute), By: loopguard.ByDescheduler,
	})
	c.history[pod] = append(c.history[pod], c.minute)
	c.lastOf[c.pods[pod].workload] = c.minute
	c.visited[pod][from] = true
	if c.visited[pod][target] {
		c.returns++
	}
	pods := c.byNode[from]
	for i, other := range pods {
		if other == pod {
			c.byNode[from] = append(pods[:i:i], pods[i+1:]...)
			break
		}
	}
	c.byNode[target] = append(c.byNode[target], pod)
	c.on[pod], c.since[pod] = target, c.minute
}

// requested of a node: all pods request the same.
func (c *cluster) fits(node int, more int) bool {
	pods := float64(len(c.byNode[node]) + more)
	return pods*podCPU <= nodeCPU && pods*podMemory <= nodeMemory && int(pods) <= podsOfNode
}
