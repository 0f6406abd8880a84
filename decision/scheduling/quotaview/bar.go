package quotaview

import (
	"koordinator.sh/koord/decision/scheduling/quota"
)

// Part is what a cell of the bar of a quota shows.
type Part int

const (
	// Beyond everything there is.
	Beyond Part = iota
	// Used of min.
	Used
	// Borrowed is used beyond min.
	Borrowed
	// Free of the runtime.
	Free
	// Asked is requested beyond the runtime.
	Asked
	// MinMark is the cell in which min ends.
	MinMark
)

// Bar has the parts of a bar of a width: what is used, within min and beyond it, what is free of the runtime, and what is requested beyond
// the runtime, of the largest of them. It is nil where nothing is known, or all is 0.
func Bar(a *Amounts, width int) []Part {
	whole := max(bounded(a.Min), bounded(a.Runtime), bounded(a.Used), bounded(a.Request))
	if width < 1 || whole <= 0 || a.Runtime == nil && value(a.Used) == 0 {
		return nil
	}
	out := make([]Part, width)
	for i := range out {
		out[i] = a.part((float64(i) + 0.5) / float64(width) * float64(whole))
	}
	if a.Min != nil && *a.Min > 0 && *a.Min < whole {
		out[min(int(float64(*a.Min)/float64(whole)*float64(width)), width-1)] = MinMark
	}
	return out
}

func (a *Amounts) part(at float64) Part {
	switch {
	case at < float64(value(a.Used)) && at < float64(value(a.Min)):
		return Used
	case at < float64(value(a.Used)):
		return Borrowed
	case at < float64(value(a.Runtime)):
		return Free
	case at < float64(value(a.Request)):
		return Asked
	}
	return Beyond
}

// bounded is an amount that a bar can be measured by: 0 for one that is not known, or without a limit.
func bounded(v *int64) int64 {
	if value(v) == quota.Unlimited {
		return 0
	}
	return value(v)
}

func value(v *int64) int64 {
	if v == nil {
		return 0
	}
	return *v
}
