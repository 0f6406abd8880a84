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
	// Pod tells the pod from all others of the node.
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

// Record is what the pods of one node used lately, step by step. It takes about 8 bytes a pod and step. It is not safe for
// concurrent use.
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

// recorded is one pod's values up to the step `to`, the oldest first.
type recorded struct {
	Sample
	to          int64
	cpu, memory []float32
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
		pod = &recorded{to: step - 1}
		r.pods[sample.Pod] = pod
	}
	pod.Sample, pod.present = sample, true
	pod.cpu = r.put(pod.cpu, step-pod.to, sample.CPU.Used)
	pod.memory = r.put(pod.memory, step-pod.to, sample.Memory.Used)
	pod.to = step
}

// put adds a value some steps after the last one; what was not measured in between is taken to be as before.
func (r *Record) put(values []float32, steps int64, value float64) []float32 {
	if steps == 0 {
		values[len(values)-1] = max(values[len(values)-1], float32(value))
		return values
	}
	for range steps - 1 {
		between := float32(value)
		if len(values) > 0 {
			between = values[len(values)-1]
		}
		values = append(r.roomy(values), between)
	}
	values = append(r.roomy(values), float32(value))
	if extra := len(values) - int(r.keep()); extra > 0 {
		values = values[:copy(values, values[extra:])]
	}
	return values
}

// roomy returns values with room for one more. It ends where the record forgets: growing by doubling would take nearly twice the
// memory for a day.
func (r *Record) roomy(values []float32) []float32 {
	most := int(r.keep()) + 1
	if len(values) < cap(values) || len(values) >= most {
		return values
	}
	return append(make([]float32, 0, min(max(2*len(values), 8), most)), values...)
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
