package main

import (
	"fmt"
	"math/rand/v2"

	"koordinator.sh/koord/agent/host/trace"
)

// Sizes of the day.
const (
	stepsPerDay  = 24 * 60 // minutes
	podsPerNode  = 15
	replicas     = 5
	nodeCPU      = 32.0
	nodeMemory   = 128.0
	podCPU       = 1.6 // requests, of which 15 fill three quarters of a node
	podMemory    = 6.4
	mostOfPod    = 6 * podCPU
	systemCPU    = 0.5
	systemMemory = 2.0
)

// day is the load of a cluster on one day. It is only read.
type day struct {
	nodes int
	pods  []dayPod
}

// dayPod is a pod with what it uses in each minute.
type dayPod struct {
	name, workload string
	start          int // node
	cpu            []float32
	memory         float32
}

// shift is when the pods of a group of nodes use more than others.
type shift struct {
	share    float64
	from, to int // minutes; to may lie on the next day
}

// shifts: some nodes have busy pods all day, some by day and some by night, so that who moves pods by what they use at the moment has
// to move them again.
var shifts = []shift{{0.15, 0, stepsPerDay}, {0.10, 8 * 60, 18 * 60}, {0.10, 20 * 60, 28 * 60}}

// newDay has a mean load of all nodes, of which busy pods have several times that of others.
func newDay(recorded []*trace.Series, nodes int, mean, busy float64, seed uint64) *day {
	random := rand.New(rand.NewPCG(seed, 20))
	d := &day{nodes: nodes, pods: make([]dayPod, 0, nodes*podsPerNode)}
	shiftOf := make([]int, nodes)
	for n := range nodes {
		shiftOf[n] = -1
		place := (float64(n) + 0.5) / float64(nodes)
		for i, s := range shifts {
			if place -= s.share; place < 0 {
				shiftOf[n] = i
				break
			}
		}
	}
	total := 0.0
	for i := range nodes * podsPerNode {
		n := i % nodes
		pod := dayPod{name: fmt.Sprintf("default/pod-%d", i), start: n, memory: float32(podMemory * (0.5 + 0.5*random.Float64()))}
		// The replicas of a workload run on neighbouring nodes.
		pod.workload = fmt.Sprintf("Deployment/default/app-%d-%d", i/nodes, n/replicas)
		pod.cpu = loadOf(recorded, random)
		for minute := range pod.cpu {
			if shiftOf[n] >= 0 && shifts[shiftOf[n]].covers(minute) {
				pod.cpu[minute] *= float32(busy)
			}
			total += float64(pod.cpu[minute])
		}
		d.pods = append(d.pods, pod)
	}
	d.scale(mean * nodeCPU * float64(nodes) * stepsPerDay / total)
	return d
}

func (s shift) covers(minute int) bool {
	return minute >= s.from && minute < s.to || minute+stepsPerDay < s.to
}

// scale what all pods use. None uses more than its limit.
func (d *day) scale(by float64) {
	for i := range d.pods {
		for minute, used := range d.pods[i].cpu {
			d.pods[i].cpu[minute] = float32(min(float64(used)*by, mostOfPod))
		}
	}
}

// loadOf takes a day of a recording, at a random place, relative to its mean. A quarter of the mean is the least that a pod uses.
func loadOf(recorded []*trace.Series, random *rand.Rand) []float32 {
	series := recorded[random.IntN(len(recorded))]
	perStep := max(int(series.Step().Minutes()), 1)
	offset := random.IntN(series.Len())
	values := make([]float32, stepsPerDay)
	sum := 0.0
	for minute := range values {
		i, part := minute/perStep, float64(minute%perStep)/float64(perStep)
		here, next := series.Value((offset+i)%series.Len()), series.Value((offset+i+1)%series.Len())
		values[minute] = float32(here + (next-here)*part)
		sum += float64(values[minute])
	}
	mean := float32(max(sum/stepsPerDay, 1e-9))
	size := float32(0.4 + 1.2*random.Float64())
	for minute := range values {
		values[minute] = size * (0.25 + 0.75*values[minute]/mean)
	}
	return values
}
