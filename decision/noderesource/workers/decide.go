package workers

import (
	"fmt"
	"math"
	"time"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/phrase"
	"koordinator.sh/koord/decision/core/waterfall"
)

// Verdict is the size that the target should have.
type Verdict struct {
	// Desired is that size.
	Desired int32
	// LimitedBy is the name of the term that determined it.
	LimitedBy string
	// Drain are the workers to choose now, by name, in the order in which they go.
	Drain []Candidate
	// History to decide by the next time.
	History History
}

// The names of the terms.
const (
	FitsNow       = "fitsNow"
	FirstWorker   = "firstWorker"
	WaitingPods   = "waitingPods"
	PredictedToGo = "predictedToGo"
	Headroom      = "headroom"
	QuotaRoom     = "quota"
	MinReplicas   = "minReplicas"
	MaxReplicas   = "maxReplicas"
	Stabilization = "stabilization"
	StepLimit     = "stepLimit"
	Budget        = "podDisruptionBudget"
	Desired       = "desired"
)

// Decide says how many workers there should be, and which go first. A nil trace records nothing.
func Decide(in Input, trace *Trace) Verdict {
	trace.begin()
	d := &decision{in: &in, rooms: newRooms(&in), steps: trace.steps()}
	d.limitedBy = FitsNow
	d.wanted()
	d.moderate()
	candidates := d.candidates()
	d.choose(candidates)
	value, terms := d.steps.End(Desired)
	d.verdict.Desired, d.verdict.LimitedBy = int32(value), d.limitedBy
	trace.done(terms, d.rooms.shown(), candidates)
	return d.verdict
}

// decision is a verdict in the making.
type decision struct {
	in        *Input
	rooms     *rooms
	steps     waterfall.Waterfall
	limitedBy string
	verdict   Verdict
}

// determines notes that a term determines the size, where it changed the value.
func (d *decision) determines(name string, before int64) {
	if d.steps.Value() != before {
		d.limitedBy = name
	}
}

func (d *decision) atMost(name string, operand int64, note string) {
	before := d.steps.Value()
	d.steps.Step(diagnosticsv1alpha1.Min, name, operand, note)
	d.determines(name, before)
}

func (d *decision) atLeast(name string, operand int64, note string) {
	before := d.steps.Value()
	d.steps.Step(diagnosticsv1alpha1.Max, name, operand, note)
	d.determines(name, before)
}

// change adds a difference; nothing is written down where there is none.
func (d *decision) change(difference int64, name, note string) {
	before := d.steps.Value()
	switch {
	case difference > 0:
		d.steps.Step(diagnosticsv1alpha1.Plus, name, difference, note)
	case difference < 0:
		d.steps.Step(diagnosticsv1alpha1.Minus, name, -difference, note)
	}
	d.determines(name, before)
}

// wanted is how many workers there should be, whatever there are now.
func (d *decision) wanted() {
	in := d.in
	switch {
	case len(in.Request) == 0:
		d.steps.Step(diagnosticsv1alpha1.Start, FirstWorker, 1, "what a worker requests is known once there is one")
		d.limitedBy = FirstWorker
	default:
		d.steps.Step(diagnosticsv1alpha1.Start, FitsNow, d.rooms.first, "on "+phrase.Counted(len(in.Nodes), "node")+" that workers may use")
		d.change(-d.rooms.waiting, WaitingPods, "for "+phrase.Counted(d.rooms.placed, "pod")+" that come first")
		gone, nodes := d.rooms.gone()
		d.change(-gone, PredictedToGo, fmt.Sprintf("within %s, on %s", in.Spec.Horizon, phrase.Counted(nodes, "node")))
		d.change(-ceilPercent(d.steps.Value(), int64(in.Spec.HeadroomPercent)), Headroom, fmt.Sprintf("%d%% are left to other pods", in.Spec.HeadroomPercent))
		if len(in.Pods) == 0 {
			d.atMost(FirstWorker, 1, "where workers may run is known once there is one")
		}
	}
	if in.Quota != nil {
		d.atMost(QuotaRoom, max(in.Quota.Fits, 0), "quota "+in.Quota.Name+" has room for")
	}
	d.atLeast(MinReplicas, int64(in.Spec.Min), "")
	d.atMost(MaxReplicas, int64(in.Spec.Max), "")
}

// ceilPercent is a share, rounded up.
func ceilPercent(value, percent int64) int64 {
	if value <= 0 || percent <= 0 {
		return 0
	}
	value = min(value, math.MaxInt64/200)
	return (value*min(percent, 100) + 99) / 100
}

// base is how many workers stay as it is: those that drain go in any case.
func (d *decision) base() int32 { return max(d.in.Current-d.draining(), 0) }

func (d *decision) draining() int32 {
	count := int32(0)
	for i := range d.in.Pods {
		if d.in.Pods[i].Draining {
			count++
		}
	}
	return count
}

// moderate keeps the size while a change is not wanted for long enough, and bounds the step to it.
func (d *decision) moderate() {
	in, wanted, base := d.in, int32(d.steps.Value()), d.base()
	d.verdict.History = in.History
	if wanted == base {
		d.verdict.History.Trend = nil
		return
	}
	direction, rate, last := Up, in.Spec.Up, in.History.Up
	if wanted < base {
		direction, rate, last = Down, in.Spec.Down, in.History.Down
	}
	trend := follow(in.History.Trend, direction, wanted, in.Now)
	d.verdict.History.Trend = &trend
	stays := func(name, note string) { d.change(int64(base)-d.steps.Value(), name, note) }
	if direction == Up && in.Spec.Ordinals && d.draining() > 0 {
		stays(StepLimit, "the worker with the highest ordinal is draining")
		return
	}
	if bounded := min(max(base, in.Spec.Min), in.Spec.Max); bounded != base {
		d.change(int64(bounded)-d.steps.Value(), StepLimit, "the size is brought within the bounds first")
		d.stepped(direction)
		return
	}
	if wait := trend.Since.Add(rate.Stabilization).Sub(in.Now); wait > 0 {
		stays(Stabilization, fmt.Sprintf("this size has to be wanted for another %s", round(wait)))
		return
	}
	if wait := last.Add(rate.Period).Sub(in.Now); !last.IsZero() && !last.After(in.Now) && wait > 0 {
		stays(StepLimit, fmt.Sprintf("the next step is in %s", round(wait)))
		return
	}
	target := max(trend.Replicas, base)
	if direction == Down {
		target = min(trend.Replicas, base)
	}
	d.change(int64(target-wanted), Stabilization, "a size nearer to the present one was wanted within "+round(rate.Stabilization).String())
	step := min(max(target-base, -rate.Pods), rate.Pods)
	d.change(int64(base+step)-d.steps.Value(), StepLimit, fmt.Sprintf("at most %s every %s", phrase.Counted(int(rate.Pods), "worker"), round(rate.Period)))
	d.stepped(direction)
}

// stepped notes a step up; one down is noted when workers are chosen to go.
func (d *decision) stepped(direction Direction) {
	if direction == Up && d.steps.Value() > int64(d.base()) {
		d.verdict.History.Up, d.verdict.History.Trend = d.in.Now, nil
	}
}

// follow continues a trend in the same direction, or begins one.
func follow(trend *Trend, direction Direction, wanted int32, now time.Time) Trend {
	if trend == nil || trend.Direction != direction || trend.Since.After(now) {
		return Trend{Direction: direction, Since: now, Replicas: wanted}
	}
	out := *trend
	if direction == Up {
		out.Replicas = min(out.Replicas, wanted)
	} else {
		out.Replicas = max(out.Replicas, wanted)
	}
	return out
}

func round(d time.Duration) time.Duration { return d.Round(time.Second) }
