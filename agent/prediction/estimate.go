package prediction

import (
	"math"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/core/predict"
)

// Pod is what an estimate needs to know of a pod.
type Pod struct {
	UID  types.UID
	Band extension.PriorityClass
	// Request of plain cpu and memory.
	Request podrequest.Amount
	// Started is when the pod began to run.
	Started time.Time
}

// Estimate is what prod pods will use at most, and what they request beyond that.
type Estimate struct {
	// Reclaimable is the smaller of the two estimates', Peak the larger, cpu and memory each on its own.
	Reclaimable, Peak podrequest.Amount
	// ByPod adds up one peak a pod; ByClass takes the peak of the sum, and counts the system and pods outside of all
	// bands.
	ByPod, ByClass Term
	// ColdPods is how many prod pods were taken to need all they request, because they are young or were never seen.
	ColdPods int
}

// Term is one of the two estimates.
type Term struct {
	Reclaimable, Peak podrequest.Amount
}

// Estimate predicts for the prod pods among those that run on a node with so much allocatable. Without training
// nothing is reclaimable.
func (n *Node) Estimate(at time.Time, pods []Pod, allocatable podrequest.Amount) Estimate {
	var out Estimate
	var requested podrequest.Amount
	for i := range pods {
		pod := &pods[i]
		if pod.Band != extension.PriorityProd {
			continue
		}
		requested = requested.Add(pod.Request)
		known := n.pods[pod.UID]
		if known == nil || at.Sub(pod.Started) < n.options.ColdStart {
			out.ColdPods++
			out.ByPod.Peak = out.ByPod.Peak.Add(pod.Request)
			continue
		}
		peak := n.peak(&known.model)
		out.ByPod.Peak = out.ByPod.Peak.Add(peak)
		out.ByPod.Reclaimable = out.ByPod.Reclaimable.Add(less(pod.Request, peak))
	}
	out.ByPod.Reclaimable = lower(out.ByPod.Reclaimable, less(allocatable, out.ByPod.Peak))

	out.ByClass.Peak = n.peak(&n.prod)
	all := out.ByClass.Peak.Add(n.peak(&n.none)).Add(n.peak(&n.system))
	if !n.prod.cpu.Empty() {
		out.ByClass.Reclaimable = lower(less(requested, all), less(allocatable, all))
	}
	out.Reclaimable = lower(out.ByPod.Reclaimable, out.ByClass.Reclaimable)
	out.Peak = higher(out.ByPod.Peak, out.ByClass.Peak)
	return out
}

// peak is the percentile of a model with the safety margin.
func (n *Node) peak(m *model) podrequest.Amount {
	margin := float64(n.options.SafetyMarginPercent)
	return podrequest.Amount{
		MilliCPU: int64(math.Ceil(predict.KoordinatorCPU.Peak(&m.cpu, margin) * 1000)),
		Memory:   int64(math.Ceil(predict.KoordinatorMemory.Peak(&m.memory, margin))),
	}
}

// less subtracts, and stops at zero.
func less(a, b podrequest.Amount) podrequest.Amount {
	return podrequest.Amount{MilliCPU: max(a.MilliCPU-b.MilliCPU, 0), Memory: max(a.Memory-b.Memory, 0)}
}

func lower(a, b podrequest.Amount) podrequest.Amount {
	return podrequest.Amount{MilliCPU: min(a.MilliCPU, b.MilliCPU), Memory: min(a.Memory, b.Memory)}
}

func higher(a, b podrequest.Amount) podrequest.Amount {
	return podrequest.Amount{MilliCPU: max(a.MilliCPU, b.MilliCPU), Memory: max(a.Memory, b.Memory)}
}
