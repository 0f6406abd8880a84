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
	// Span is how long the node has been observed, and Window how far back the profile reads.
	Span, Window time.Duration
	// Pods that were measured.
	Pods        int
	CPU, Memory Foreseen
}

// Partial says that the node has been observed for less than the profile reads: peaks that it would know of may be missing.
func (f *Forecast) Partial() bool { return f.Span < f.Window }

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

// point is a prediction that is to be judged: of the pods there were at the step from, by what they use within the horizon.
type point struct {
	tier        Tier
	profile     string
	from        int64
	cpu, memory expected
}

// expected is the predicted peak of one resource, and the limits of the pods.
type expected struct{ peak, limits float64 }

// due is the last step of the horizon.
func (p *point) due() int64 { return p.from + int64(p.tier.Horizon()/RecordStep) }

// memo is the forecast of a step, which holds until the step is over or the pods are others.
type memo struct {
	step       int64
	generation int
	profile    string
	cold       time.Duration
	forecast   *Forecast
	// judged is the last step whose prediction is going to be judged.
	judged int64
}

// holds says whether the forecast is still that of a record.
func (m *memo) holds(r *Record, profile string, cold time.Duration) bool {
	return m != nil && m.step == r.last && m.generation == r.generation && m.profile == profile && m.cold == cold
}

// Forecast predicts the peak of the pods that matter to a tier, and remembers predictions for being judged: the first one of
// each step for batch, and of each hour for mid. Pods that were observed for less than the cold start count with their request,
// however old they are: what is not known of them must not raise what is offered. Before the first observation there is none,
// and nil is returned.
func (r *Record) Forecast(tier Tier, profile Profile, coldStart time.Duration) *Forecast {
	if r.last == 0 {
		return nil
	}
	before := r.foreseen[tier]
	if before.holds(r, profile.Name, coldStart) {
		return before.forecast
	}
	out := &Forecast{Profile: profile.Name, Horizon: tier.Horizon(), Span: r.Span(), Window: profile.Past()}
	for _, resource := range []Resource{CPU, Memory} {
		history, requested := r.history(tier, resource, coldStart)
		out.Pods = len(history.Pods)
		*out.Of(resource) = Foreseen{Peak: profile.Peak(history), Requested: requested, Limits: history.limits()}
	}
	after := &memo{r.last, r.generation, profile.Name, coldStart, out, r.last}
	if before != nil && before.profile == profile.Name && r.last-before.judged < tier.apart() {
		after.judged = before.judged
	} else {
		r.points = append(r.points, point{tier, profile.Name, r.last,
			expected{out.CPU.Peak.Value, out.CPU.Limits}, expected{out.Memory.Peak.Value, out.Memory.Limits}})
	}
	r.foreseen[tier] = after
	return out
}

// history is the past of the pods that matter to a tier, in the order of their names, and the sum of their requests.
func (r *Record) history(tier Tier, resource Resource, coldStart time.Duration) (*History, float64) {
	h := &History{Resource: resource, Now: time.Unix(0, (r.last+1)*int64(RecordStep)), Step: RecordStep,
		Horizon: tier.Horizon(), ColdStart: coldStart}
	requested := 0.0
	for _, name := range slices.Sorted(maps.Keys(r.pods)) {
		pod := r.pods[name]
		if !pod.present || tier == Mid && !pod.Prod {
			continue
		}
		held := pod.of(resource)
		requested += held.Requested
		past := Pod{Name: name, Usage: make([]float64, len(pod.used))}
		most := held.Requested
		for i, used := range pod.used {
			past.Usage[i] = used.of(resource)
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

// judge returns how the predictions did whose last step is before the given one.
func (r *Record) judge(step int64) []Outcome {
	var over []Outcome
	r.points = slices.DeleteFunc(r.points, func(p point) bool {
		if p.due() >= step {
			return false
		}
		over = append(over,
			Outcome{p.tier, CPU, p.profile, p.cpu.peak, r.peak(&p, CPU), p.cpu.limits},
			Outcome{p.tier, Memory, p.profile, p.memory.peak, r.peak(&p, Memory), p.memory.limits})
		return true
	})
	return over
}

// peak is the largest sum after a prediction, of the pods that existed then: pods that came later could not be predicted.
func (r *Record) peak(p *point, resource Resource) float64 {
	sums := make([]float64, p.due()-p.from)
	for _, pod := range r.pods {
		began := pod.to - int64(len(pod.used)) + 1
		if began > p.from || p.tier == Mid && !pod.Prod {
			continue
		}
		for i := range sums {
			if at := p.from + 1 + int64(i) - began; at >= 0 && at < int64(len(pod.used)) {
				sums[i] += pod.used[at].of(resource)
			}
		}
	}
	return slices.Max(sums)
}
