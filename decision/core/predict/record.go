package predict

import (
	"time"
)

// RecordStep is the time a value of a Record stands for: the largest use in it.
const RecordStep = 10 * time.Minute

// Tier says for whose sake a peak is predicted.
type Tier string

const (
	// Batch is computed from what all pods above batch leave, an hour ahead.
	Batch Tier = "batch"
	// Mid is computed from what prod pods leave of their requests, a day ahead.
	Mid Tier = "mid"
)

// apart is the number of steps between two predictions that are judged. Those for mid wait for a day, and an hour apart, as
// replays have them, they say as much.
func (t Tier) apart() int64 {
	if t == Mid {
		return int64(time.Hour / RecordStep)
	}
	return 1
}

// Horizon of the predictions for a tier.
func (t Tier) Horizon() time.Duration {
	if t == Mid {
		return day
	}
	return time.Hour
}

// Held is what one pod has of one resource, in cores or bytes.
type Held struct {
	Used, Requested float64
	// Limit is 0 where there is none.
	Limit float64
}

// Sample is one pod above batch as it was measured.
type Sample struct {
	// Pod identifies the pod among those of the node.
	Pod string
	// Prod is false for mid pods.
	Prod        bool
	CPU, Memory Held
}

func (s *Sample) of(resource Resource) Held {
	if resource == Memory {
		return s.Memory
	}
	return s.CPU
}

// Record is what the pods of one node used lately, step by step, rounded up by a part in 2048 at most. It takes 4 bytes a pod
// and step. It is not safe for concurrent use.
type Record struct {
	// past is how far back it remembers.
	past time.Duration
	// first and last step that was observed, counted from the epoch; last is 0 before the first observation.
	first, last int64
	pods        map[string]*recorded
	// generation counts the changes of the set of pods.
	generation int
	points     []point
	foreseen   map[Tier]*memo
}

// recorded is what one pod used up to the step `to`, the oldest first.
type recorded struct {
	Sample
	to   int64
	used []use
	// present is false for a pod that is gone, which is kept until no prediction is judged by it.
	present bool
}

// NewRecord returns a record that remembers as much as a profile reads, and at least the longest horizon.
func NewRecord() *Record {
	return &Record{past: day, pods: map[string]*recorded{}, foreseen: map[Tier]*memo{}}
}

// Remember makes the record keep what a profile reads. It never forgets because of it.
func (r *Record) Remember(p Profile) { r.past = max(r.past, p.Past()) }

// Span is how long the node has been observed.
func (r *Record) Span() time.Duration {
	if r.last == 0 {
		return 0
	}
	return time.Duration(r.last-r.first+1) * RecordStep
}

// Observe takes a measurement of all pods above batch, and returns how the predictions did whose time is over. Older
// measurements than the last one of a later step are ignored.
func (r *Record) Observe(at time.Time, samples []Sample) []Outcome {
	step := at.UnixNano() / int64(RecordStep)
	if step < r.last || step <= 0 {
		return nil
	}
	if r.last == 0 || step-r.last > r.keep() {
		clear(r.pods)
		r.first, r.points = step, nil
		r.generation++
	}
	var over []Outcome
	if step > r.last {
		over = r.judge(step)
	}
	r.last = step
	seen := make(map[string]bool, len(samples))
	for i := range samples {
		seen[samples[i].Pod] = true
		r.take(step, samples[i])
	}
	for name, pod := range r.pods {
		if !seen[name] {
			r.lose(name, pod)
		}
	}
	return over
}

// keep is the number of steps remembered: one more than a horizon has, so that every prediction can be judged.
func (r *Record) keep() int64 { return int64(r.past/RecordStep) + 1 }

func (r *Record) take(step int64, sample Sample) {
	pod, known := r.pods[sample.Pod]
	if !known || !pod.present {
		r.generation++
	}
	if !known {
		pod = &recorded{Sample: Sample{Pod: sample.Pod}, to: step - 1}
		r.pods[sample.Pod] = pod
	}
	sample.Pod = pod.Pod // the one that is the key, for it is kept anyway
	pod.Sample, pod.present = sample, true
	pod.used = r.put(pod.used, step-pod.to, useOf(sample.CPU.Used, sample.Memory.Used))
	pod.to = step
}

// put adds what was used some steps after the last one; what was not measured in between is taken to be as before.
func (r *Record) put(used []use, steps int64, value use) []use {
	if steps == 0 {
		used[len(used)-1] = used[len(used)-1].larger(value)
		return used
	}
	between := value
	if len(used) > 0 {
		between = used[len(used)-1]
	}
	for range steps - 1 {
		used = r.push(used, between)
	}
	return r.push(used, value)
}

// push appends a value, and drops the oldest that the record does not keep. Room is made up to there: growing by doubling alone
// would take nearly twice the memory for a day.
func (r *Record) push(used []use, value use) []use {
	most := int(r.keep())
	if len(used) >= most {
		used = used[:copy(used, used[len(used)-most+1:])]
	}
	if len(used) == cap(used) {
		used = append(make([]use, 0, min(max(2*len(used), 8), most)), used...)
	}
	return append(used, value)
}

// lose marks a pod that is not measured any more, and forgets it once it is gone for longer than any horizon.
func (r *Record) lose(name string, pod *recorded) {
	if pod.present {
		pod.present = false
		r.generation++
	}
	if time.Duration(r.last-pod.to)*RecordStep > day {
		delete(r.pods, name)
	}
}
