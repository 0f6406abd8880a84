package memoryqos

import (
	"fmt"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/capacity"
)

// ReclaimInput is one group whose kernel has no watermarks for it.
type ReclaimInput struct {
	// Usage and Limit of the group in bytes.
	Usage, Limit int64
	// WmarkRatio in percent of the limit, from which is reclaimed; 0 never does.
	WmarkRatio int64
	// WmarkScalePermill is how far below that reclaim ends, in thousandths of the limit.
	WmarkScalePermill int64
	// Protected bytes, memory.min or memory.low, that are not taken away.
	Protected int64
	// Reclaimable bytes: page cache, and what can be swapped out. Nothing else is asked for.
	Reclaimable int64
	// MostPerRound bounds one round; DefaultReclaim where it is 0.
	MostPerRound int64
	// StallPercent is the time in which the group's processes all waited for memory, averaged over ten seconds, in percent.
	StallPercent float64
	// Reclaiming is what the last round returned.
	Reclaiming bool
}

// DefaultReclaim is 64 MiB per round: a write of memory.reclaim lasts as long as the kernel needs.
const DefaultReclaim int64 = 64 << 20

// MostStallPercent is the waiting from which reclaim would do more harm than good.
const MostStallPercent = 5

// Reclaim is one round.
type Reclaim struct {
	// Bytes to write to memory.reclaim; 0 for none.
	Bytes int64 `json:"bytes"`
	// Reclaiming goes on in the next round until Low is reached.
	Reclaiming bool `json:"reclaiming"`
	// High and Low watermarks in bytes.
	High int64 `json:"high"`
	Low  int64 `json:"low"`
	// Reason in one sentence.
	Reason string `json:"reason"`
}

// ReclaimOf decides one round: it begins above the high watermark, goes on until the low one is reached, and takes no more at
// once than is bounded, can be reclaimed and is not protected. A nil trace records nothing.
func ReclaimOf(in ReclaimInput, trace *Trace) Reclaim {
	trace.begin()
	if in.Limit <= 0 || in.WmarkRatio <= 0 {
		return Reclaim{Reason: "no watermark is set"}
	}
	out := Reclaim{High: capacity.Percent(in.Limit, min(in.WmarkRatio, 100))}
	scale := capacity.Percent(in.Limit, min(max(in.WmarkScalePermill, 0), 1000)) / 10
	out.Low = max(out.High-scale, 0)
	switch {
	case in.Usage > out.High:
		out.Reclaiming, out.Reason = true, "use is above the high watermark"
	case in.Reclaiming && in.Usage > out.Low:
		out.Reclaiming, out.Reason = true, "use is not yet at the low watermark"
	default:
		out.Reason = "use is below the watermark"
		return out
	}
	if in.StallPercent >= MostStallPercent {
		out.Reason = fmt.Sprintf("processes wait for memory %.1f%% of the time: reclaim would make it worse", in.StallPercent)
		return out
	}
	most := in.MostPerRound
	if most <= 0 {
		most = DefaultReclaim
	}
	w := trace.steps()
	w.Step(diagnosticsv1alpha1.Start, "usage", in.Usage, "")
	w.Step(diagnosticsv1alpha1.Minus, "low", max(out.Low, in.Protected), "the low watermark, or what is protected")
	w.Step(diagnosticsv1alpha1.Min, "reclaimable", max(in.Reclaimable, 0), "")
	w.Step(diagnosticsv1alpha1.Min, "mostPerRound", most, "")
	w.Step(diagnosticsv1alpha1.Max, "floor", 0, "")
	out.Bytes = w.Value()
	trace.reclaimed(&w)
	if out.Bytes == 0 {
		out.Reason = "use is above the watermark, and nothing of it can be reclaimed"
	}
	return out
}
