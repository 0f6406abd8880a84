package enginerun

import (
	"regexp"
	"time"

	"koordinator.sh/koord/decision/core/jobinsight"
)

// Event is what an engine says of a run that ended.
type Event struct {
	Source jobinsight.Source
	// ID of the run, which no other run of the engine has.
	ID   string
	Kind jobinsight.Kind
	// Outcome is empty where the engine does not say how the run ended.
	Outcome jobinsight.Outcome
	// Started is when it began to work, not when it began to wait.
	Started, Ended time.Time
	// Memory in bytes, and the CPU time in seconds; 0 for what the engine does not say.
	Memory, CPUSeconds float64
	// Better are sources that tell more of the same run.
	Better jobinsight.Sources
}

// Decide makes the run of an event; false for one that says too little, and for one of which a source that is read as well tells more, so that no
// run counts twice. A nil trace records nothing.
func Decide(e Event, read jobinsight.Sources, trace *Trace) (jobinsight.Run, bool) {
	run := jobinsight.Run{Kind: e.Kind, Outcome: e.Outcome, Ended: e.Ended, Source: e.Source}
	run.Kind.Application = recurring(e.Kind.Application)
	duration := e.Ended.Sub(e.Started)
	switch better := e.Better & read; {
	case better != 0:
		trace.leftOut(better.String() + " tell more of it")
	case e.ID == "":
		trace.leftOut("it has no ID")
	case e.Kind.Application == "":
		trace.leftOut("it has no name")
	case e.Outcome == "":
		trace.leftOut("it is not said how it ended")
	case e.Started.IsZero() || e.Ended.IsZero():
		trace.leftOut("it is not said when it started and ended")
	case duration < 0:
		trace.leftOut("it ended before it started")
	default:
		cores := 0.0
		if seconds := duration.Seconds(); seconds > 0 {
			cores = e.CPUSeconds / seconds
		}
		if !(e.Memory > 0) {
			trace.unknown(jobinsight.Memory.String())
		}
		if !(cores > 0) {
			trace.unknown(jobinsight.CPU.String())
		}
		run.Values = jobinsight.Observed(e.Memory, cores, duration)
		return run, true
	}
	return jobinsight.Run{}, false
}

// perRun is what makes the names of runs different: dates with times, and long numbers.
var perRun = regexp.MustCompile(`\d{4}[-_/.]\d{2}[-_/.]\d{2}([T_ ]?\d{2}[:_-]\d{2}([:_-]\d{2})?)?|\d{6,}`)

// recurring is the name of an application without what is different for every run.
func recurring(name string) string { return perRun.ReplaceAllLiteralString(name, "*") }
