package predict

import (
	"maps"
	"slices"
	"time"
)

// Forecast is what is predicted of the pods of one node for a tier.
type Forecast struct {
	// Profile that predicted, and how far ahead.
	Profile string
	Horizon time.Duration
	// Span is how long the node has been observed.
	Span time.Duration
	// Pods that were measured.
	Pods        int
	CPU, Memory Foreseen
}

// Of is the forecast of one resource.
func (f *Forecast) Of(resource Resource) *Foreseen {
	if resource == Memory {
		return &f.Memory
	}
	return &f.CPU
}

// Foreseen is the forecast of one resource, in cores or bytes.
type Foreseen struct {
	Peak Peak
	// Requested by the pods whose peak is predicted, and their limits; a pod without one counts with the larger of its
	// request and the most it used.
	Requested, Limits float64
}

// Outcome is how a prediction did.
type Outcome struct {
	Tier     Tier
	Resource Resource
	Profile  string
	// Predicted peak, the one that came, and the limits of the pods.
	Predicted, Peak, Limits float64
}

// point is a prediction that is to be judged: of the pods there were at the step from, by what they use up to the step due.
type point struct {
	Outcome
	from, due int64
}

// memo is the forecast of a step, which holds until the step is over or the pods are others.
type memo struct {
	step       int64
	generation int
	profile    string
	cold       time.Duration
	forecast   *Forecast
}

// Forecast predicts the peak of the pods that matter to a tier, and remembers the first prediction of each step for being
// judged. Pods younger than the cold start, or than the record where that is younger, count with their request. Before the
// first observation there is none, and nil is returned.
func (r *Record) Forecast(tier Tier, profile Profile, coldStart time.Duration) *Forecast {
	if r.last == 0 {
		return nil
	}
	before := r.foreseen[tier]
	if before != nil && before.step == r.last && before.generation == r.generation && before.profile == profile.Name && before.cold == coldStart {
		return before.forecast
	}
	first := before == nil || before.step != r.last || before.profile != profile.Name
	out := &Forecast{Profile: profile.Name, Horizon: tier.Horizon(), Span: r.Span()}
	for _, resource := range []Resource{CPU, Memory} {
		history, requested := r.history(tier, resource, coldStart)
		out.Pods = len(history.Pods)
		foreseen := Foreseen{Peak: profile.Peak(history), Requested: requested, Limits: history.limits()}
		*out.Of(resource) = foreseen
		if first {
			r.points = append(r.points, point{from: r.last, due: r.last + int64(tier.Horizon()/RecordStep), Outcome: Outcome{
				Tier: tier, Resource: resource, Profile: profile.Name, Predicted: foreseen.Peak.Value, Limits: foreseen.Limits,
			}})
		}
	}
	r.foreseen[tier] = &memo{r.last, r.generation, profile.Name, coldStart, out}
	return out
}

// history is the past of the pods that matter to a tier, in the order of their names, and the sum of their requests.
func (r *Record) history(tier Tier, resource Resource, coldStart time.Duration) (*History, float64) {
	h := &History{Resource: resource, Now: time.Unix(0, (r.last+1)*int64(RecordStep)), Step: RecordStep,
		Horizon: tier.Horizon(), ColdStart: min(coldStart, r.Span())}
	requested := 0.0
	for _, name := range slices.Sorted(maps.Keys(r.pods)) {
		pod := r.pods[name]
		if !pod.present || tier == Mid && !pod.Prod {
			continue
		}
		held, values := pod.of(resource), pod.values(resource)
		requested += held.Requested
		past := Pod{Name: name, Usage: make([]float64, len(values))}
		most := held.Requested
		for i, value := range values {
			past.Usage[i] = float64(value)
			most = max(most, past.Usage[i])
		}
		past.Limit = most
		if !h.cold(&past) {
			past.Limit = max(held.Limit, 0)
			if held.Limit <= 0 {
				past.Limit = most
			}
		}
		h.Pods = append(h.Pods, past)
	}
	return h, requested
}

func (p *recorded) values(resource Resource) []float32 {
	if resource == Memory {
		return p.memory
	}
	return p.cpu
}

// judge returns how the predictions did whose last step is before the given one.
func (r *Record) judge(step int64) []Outcome {
	var over []Outcome
	r.points = slices.DeleteFunc(r.points, func(p point) bool {
		if p.due >= step {
			return false
		}
		p.Peak = r.peak(&p)
		over = append(over, p.Outcome)
		return true
	})
	return over
}

// peak is the largest sum after a prediction, of the pods there were: nobody predicts those to come.
func (r *Record) peak(p *point) float64 {
	sums := make([]float64, p.due-p.from)
	for _, pod := range r.pods {
		values := pod.values(p.Resource)
		began := pod.to - int64(len(values)) + 1
		if began > p.from || p.Tier == Mid && !pod.Prod {
			continue
		}
		for i := range sums {
			if at := p.from + 1 + int64(i) - began; at >= 0 && at < int64(len(values)) {
				sums[i] += float64(values[at])
			}
		}
	}
	return slices.Max(sums)
}
