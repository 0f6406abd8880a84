package jobinsight

import (
	"math"
	"strings"
	"time"
	"unicode/utf8"
)

// Kind is what runs that resemble each other have in common. Empty fields are not known.
type Kind struct {
	// User who runs it, or the namespace.
	User string `json:"user,omitempty"`
	// Queue is the queue or the quota that it is charged to.
	Queue string `json:"queue,omitempty"`
	// Application is its name, the same for every run.
	Application string `json:"application,omitempty"`
	// Shape distinguishes runs of an application that differ in size: a query's template, the driver and the executors.
	Shape string `json:"shape,omitempty"`
}

// String is the fields that are known, by their names.
func (k Kind) String() string {
	var parts []string
	for _, field := range [...]struct{ name, value string }{
		{"user", k.User}, {"queue", k.Queue}, {"application", k.Application}, {"shape", k.Shape},
	} {
		if field.value != "" {
			parts = append(parts, field.name+" "+field.value)
		}
	}
	if len(parts) == 0 {
		return "unknown kind"
	}
	return strings.Join(parts, ", ")
}

// Outcome is how a run ended.
type Outcome string

// Outcomes. All but Completed end a run before it used what it would have used.
const (
	Completed Outcome = "completed"
	OOMKilled Outcome = "oom-killed"
	Failed    Outcome = "failed"
	// Killed is evicted, preempted, deleted, or stopped by a deadline.
	Killed Outcome = "killed"
)

// Metric is what is predicted.
type Metric int

// Metrics, in the order in which they are shown.
const (
	// Memory is the peak of a run, in bytes.
	Memory Metric = iota
	// CPU is the mean of a run, in cores.
	CPU
	// Duration from the start to the end, in seconds.
	Duration
	metrics
)

// Metrics are all of them, in order.
func Metrics() []Metric { return []Metric{Memory, CPU, Duration} }

// String is the name of a metric in answers.
func (m Metric) String() string { return [...]string{"memory", "cpu", "duration"}[m] }

// least is the smallest value of each metric; smaller ones count as this one.
var least = [metrics]float64{Memory: 1 << 20, CPU: 0.001, Duration: 1}

// most is the largest value of each metric; what is above is no measurement.
var most = [metrics]float64{Memory: 1 << 60, CPU: 1 << 20, Duration: 1 << 32}

// Run is a run that ended.
type Run struct {
	Kind    Kind
	Outcome Outcome
	Ended   time.Time
	// Source is who told of it; the zero value is its pod.
	Source Source
	// Values by metric; 0 for one that was not measured.
	Values [metrics]float64
}

// Observed makes the values of a run: peak memory in bytes, mean CPU in cores, and the duration; 0 for what was not measured.
func Observed(memory, cpu float64, duration time.Duration) [metrics]float64 {
	return [metrics]float64{Memory: memory, CPU: cpu, Duration: duration.Seconds()}
}

// log is the logarithm of a value; false for what is no measurement.
func (m Metric) log(value float64) (float64, bool) {
	if !(value > 0 && value <= most[m]) {
		return 0, false
	}
	return math.Log(max(value, least[m])), true
}

// exp is the value of a logarithm, within the bounds of the metric.
func (m Metric) exp(log float64) float64 { return min(max(math.Exp(log), least[m]), most[m]) }

// Level is how much of the kind a prediction rests on; the most specific first.
type Level int

// Levels, in the order in which they are tried.
const (
	ByKind Level = iota
	ByShape
	ByApplication
	ByQueue
	ByAll
	levels
)

// String is what the runs of a level have in common.
func (l Level) String() string {
	return [...]string{"user, queue, application and shape", "application and shape", "application", "queue", "all jobs"}[l]
}

// maxField bounds each field of a kind, in bytes; longer ones are cut.
const maxField = 128

// key is the part of a kind that a level goes by; false where that part is not known, or says no more than the next level.
func (l Level) key(k Kind) (Kind, bool) {
	switch l {
	case ByKind:
		return k, k != Kind{}
	case ByShape:
		return Kind{Application: k.Application, Shape: k.Shape}, k.Application != "" && k.Shape != ""
	case ByApplication:
		return Kind{Application: k.Application}, k.Application != ""
	case ByQueue:
		return Kind{Queue: k.Queue}, k.Queue != ""
	}
	return Kind{}, true
}

// bounded cuts the fields of a kind.
func (k Kind) bounded() Kind {
	for _, field := range [...]*string{&k.User, &k.Queue, &k.Application, &k.Shape} {
		if len(*field) <= maxField {
			continue
		}
		end := maxField
		for end > 0 && !utf8.RuneStart((*field)[end]) {
			end--
		}
		*field = (*field)[:end]
	}
	return k
}
