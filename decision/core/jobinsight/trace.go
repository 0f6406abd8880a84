package jobinsight

import (
	"fmt"

	"koordinator.sh/koord/decision/core/phrase"
)

// Trace records which levels were tried. The zero value is empty.
type Trace struct{ Tries []Try }

// Try is one level that a prediction could rest on.
type Try struct {
	Metric Metric
	Level  Level
	Kind   Kind
	// Runs were measured to their end, and Early ended before.
	Runs, Early uint32
	Used        bool
}

func (t *Trace) tried(m Metric, level Level, kind Kind, e *entry, used bool) {
	if t == nil {
		return
	}
	try := Try{Metric: m, Level: level, Kind: kind, Used: used}
	if e != nil {
		try.Runs, try.Early = e.of[m].runs, e.early
	}
	t.Tries = append(t.Tries, try)
}

// Message says what the try is about and what came of it.
func (t *Try) Message() string {
	out := phrase.Counted(int(t.Runs), "run") + ", grouped by " + t.Level.String()
	if t.Early > 0 {
		out += fmt.Sprintf(", %d ended early", t.Early)
	}
	if !t.Used {
		out += ": too few"
	}
	return out
}
