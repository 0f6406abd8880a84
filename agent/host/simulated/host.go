package simulated

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"koordinator.sh/koord/agent/host"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/podrequest"
)

// Host is a simulated machine. It is not safe for concurrent use.
type Host struct {
	node     Node
	seed     uint64
	clock    clock.PassiveClock
	timeline Timeline
	machine  behaviourOfSystem
	pods     []podState
	// rank lists indexes of pods, those that yield last first.
	rank []int
	// at is the simulated time up to which CPU time is counted; cpu is that of the whole machine, in nanoseconds.
	at  time.Time
	cpu int64
	// use is scratch space.
	use []Use
}

type podState struct {
	pod    *Pod
	tier   int
	demand behaviour
	// cpu is in nanoseconds.
	cpu int64
}

// Use is what something uses at one moment.
type Use struct {
	// NanoCores counts billionths of a CPU.
	NanoCores int64
	// Memory counts bytes.
	Memory int64
}

var _ host.Host = (*Host)(nil)

// New returns a machine without pods. The clock is real time, which the timeline maps to simulated time.
func New(seed uint64, node Node, clock clock.PassiveClock, timeline Timeline) *Host {
	return &Host{node: node, seed: seed, clock: clock, timeline: timeline, machine: newBehaviourOfSystem(seed, node)}
}

// SetPods replaces the pods of the machine. Counters of pods that stay go on; those of new ones begin at zero.
func (h *Host) SetPods(pods []*Pod) {
	counted := make(map[types.UID]int64, len(h.pods))
	for i := range h.pods {
		counted[h.pods[i].pod.UID] = h.pods[i].cpu
	}
	h.pods = make([]podState, len(pods))
	h.use = make([]Use, len(pods))
	for i, pod := range pods {
		h.pods[i] = podState{
			pod:    pod,
			tier:   tierOf(pod.Band),
			demand: newBehaviour(h.seed, pod, h.nanos(), float64(h.node.Capacity.Memory)),
			cpu:    counted[pod.UID],
		}
	}
	h.rank = ranked(h.pods)
}

// Capacity returns the size of the machine.
func (h *Host) Capacity(context.Context) (podrequest.Amount, error) { return h.node.Capacity, nil }

// Topology returns how the machine is built, as Node.Topology says.
func (h *Host) Topology(context.Context) (host.Topology, error) { return h.node.Topology(), nil }

// Read takes a reading now.
func (h *Host) Read(ctx context.Context, into *host.Snapshot) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	h.ReadAt(h.timeline.At(h.clock.Now()), into)
	return nil
}

// ReadAt takes a reading at a simulated moment. CPU time since the previous one is counted at the rate in the middle of the interval;
// the first reading finds all counters at zero. Time does not run backwards: at a moment before the previous reading's, only memory is
// read again.
func (h *Host) ReadAt(at time.Time, into *host.Snapshot) {
	if elapsed := at.Sub(h.at); elapsed > 0 {
		if !h.at.IsZero() {
			h.count(elapsed)
		}
		h.at = at
	}
	system := h.memory(at)
	into.Time = at
	into.Node = host.Counter{CPU: time.Duration(h.cpu), Memory: system}
	into.Pods = into.Pods[:0]
	for i := range h.pods {
		into.Node.Memory += h.use[i].Memory
		into.Pods = append(into.Pods, host.PodCounter{
			UID:     h.pods[i].pod.UID,
			Counter: host.Counter{CPU: time.Duration(h.pods[i].cpu), Memory: h.use[i].Memory},
		})
	}
}

// count adds the CPU time of an interval that begins at h.at.
func (h *Host) count(elapsed time.Duration) {
	total := h.rates(h.at.Add(elapsed / 2))
	for i := range h.pods {
		used := cpuTime(h.use[i].NanoCores, elapsed)
		h.pods[i].cpu += used
		h.cpu += used
	}
	h.cpu += cpuTime(total, elapsed)
}

// cpuTime is rate times duration, in nanoseconds, rounded down so that the sum never exceeds the capacity.
func cpuTime(nanoCores int64, elapsed time.Duration) int64 {
	whole, rest := nanoCores/1e9, nanoCores%1e9
	return whole*int64(elapsed) + int64(float64(rest)/1e9*float64(elapsed))
}

// At computes what runs at a simulated moment, without touching counters: the system, and the pods in the order of
// readings, in a slice that the next call overwrites.
func (h *Host) At(at time.Time) (system Use, pods []Use) {
	system.NanoCores = h.rates(at)
	system.Memory = h.memory(at)
	return system, h.use
}

func (h *Host) nanos() float64 { return float64(h.node.Capacity.MilliCPU) * 1e6 }

// tierOf ranks bands: the higher, the sooner its pods are squeezed.
func tierOf(band extension.PriorityClass) int {
	switch {
	case yieldsLast(band):
		return 0
	case band == extension.PriorityMid:
		return 1
	case band == extension.PriorityBatch:
		return 2
	}
	return 3
}
