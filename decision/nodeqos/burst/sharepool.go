package burst

import (
	"fmt"
	"math/bits"
	"time"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/freshness"
	"koordinator.sh/koord/decision/core/waterfall"
)

// PoolState is how much room the shared CPUs have.
type PoolState string

// States of the shared CPUs, from much room to none.
const (
	Idle       PoolState = "idle"
	Cooling    PoolState = "cooling"
	Overloaded PoolState = "overloaded"
	// Unmeasured pools let no quota grow.
	Unmeasured PoolState = "unmeasured"
)

// coolingPermille of the threshold is where a pool begins to cool down.
const coolingPermille = 900

// PoolInput is what the state of the shared CPUs depends on. CPU is in milli-cores, averaged over a few rounds.
type PoolInput struct {
	freshness.Observation
	Now time.Time
	// Capacity of the node and what all of it uses.
	Capacity int64
	NodeUsed int64
	Pods     []PoolPod
	// ThresholdPercent is sharePoolThresholdPercent; nil is 50.
	ThresholdPercent *int64
}

// PoolPod is one pod of the node.
type PoolPod struct {
	// QoS is the class in the pod's label.
	QoS extension.QoSClass
	// Requested is plain cpu, and Used what it uses; 0 when not measured.
	Requested int64
	Used      int64
}

// Pool is the state of the shared CPUs.
type Pool struct {
	State PoolState `json:"state"`
	// Total and Used CPU of the pool in milli-cores.
	Total int64 `json:"total"`
	Used  int64 `json:"used"`
	// ThresholdPercent of the total from which it is overloaded.
	ThresholdPercent int64  `json:"thresholdPercent"`
	Reason           string `json:"reason"`
}

// PoolOf computes the state of the shared CPUs. A pool without CPUs is fully used.
func PoolOf(in PoolInput) Pool {
	out := Pool{State: Unmeasured, ThresholdPercent: DefaultSharePoolPercent}
	set(&out.ThresholdPercent, in.ThresholdPercent)
	if out.Reason = in.Assess(in.Now); out.Reason != "" {
		return out
	}
	if in.Capacity <= 0 {
		out.Reason = "the capacity of the node is not known"
		return out
	}
	out.Total, out.Used = in.Capacity, max(in.NodeUsed, 0)
	for _, pod := range in.Pods {
		exclusive := pod.QoS == extension.QoSLSE || pod.QoS == extension.QoSLSR
		if exclusive {
			out.Total = waterfall.Add(out.Total, -max(pod.Requested, 0))
		}
		if exclusive || pod.QoS == extension.QoSBE {
			out.Used = waterfall.Add(out.Used, -max(pod.Used, 0))
		}
	}
	out.Total, out.Used = max(out.Total, 0), max(out.Used, 0)
	out.classify()
	return out
}

// classify compares the use of the pool with its threshold.
func (p *Pool) classify() {
	used, total := p.Used, p.Total
	if total == 0 {
		used, total = 1, 1
	}
	threshold := uint64(min(max(p.ThresholdPercent, 0), 1_000_000))
	reaches := func(permille uint64) bool {
		// used/total >= threshold/100 x permille/1000, without dividing.
		leftHigh, leftLow := bits.Mul64(uint64(used), 100_000)
		rightHigh, rightLow := bits.Mul64(uint64(total), threshold*permille)
		return leftHigh > rightHigh || leftHigh == rightHigh && leftLow >= rightLow
	}
	switch {
	case reaches(1000):
		p.State = Overloaded
	case reaches(coolingPermille):
		p.State = Cooling
	default:
		p.State = Idle
	}
	p.Reason = fmt.Sprintf("%s of %s shared cores are used, overloaded from %d%%", cores(p.Used), cores(p.Total), p.ThresholdPercent)
}

func cores(milli int64) string { return fmt.Sprintf("%.4g", float64(milli)/1000) }
