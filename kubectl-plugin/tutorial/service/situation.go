package service

import (
	"context"
	"fmt"
	"time"

	"koordinator.sh/koord/sandbox/workload"
)

// Situation is what was measured of the service and the machine while an engine did something.
type Situation struct {
	// Name of the situation.
	Name string
	// Rate of the requests, per second.
	Rate float64
	// Summary of how long the requests took.
	workload.Summary
	// Used is the share of the machine's CPU time, 0 to 1.
	Used float64
	// Progress of the engine, per second; 0 where none runs.
	Progress float64
	// Paused is what was measured in turn with it, with the pods of the engine paused; nil where none runs.
	Paused *Situation
}

// Count says how far an engine is, such as how many tasks it has done so far.
type Count func(context.Context) (int64, error)

// Table has a row for each situation, after one of what was measured in turn with it while the engine was paused. progress is the heading of what the
// engine did, and per the seconds that it is counted in: 1 for what was done per second, 60 for what was done per minute.
func Table(progress string, per float64, situations ...Situation) [][]string {
	rows := [][]string{{"SITUATION", "REQUESTS/S", "P50", "P99", "TO PAUSED", "CPU USED", "TO PAUSED", progress}}
	for _, got := range situations {
		done := "-"
		if got.Paused != nil {
			rows = append(rows, row(*got.Paused, "-"))
			done = fmt.Sprintf("%.1f", got.Progress*per)
		}
		rows = append(rows, row(got, done))
	}
	return rows
}

func row(got Situation, done string) []string {
	return []string{got.Name, fmt.Sprintf("%g", got.Rate), Milliseconds(got.P50), Milliseconds(got.P99), got.Slower(), Percent(got.Used), got.More(), done}
}

// Seen says what the service notices of an engine, and how much more of the machine is used.
func (s Situation) Seen() string {
	return fmt.Sprintf("The p99 is %s, %s of what it is with the engine paused. %s of the machine's CPU is used, %s of what is used with it paused.",
		Milliseconds(s.P99), s.Slower(), Percent(s.Used), s.More())
}

// Slower is how many times as long the slowest hundredth of requests takes as with the engine paused; "-" where none runs.
func (s Situation) Slower() string {
	if s.Paused == nil {
		return "-"
	}
	return Times(float64(s.P99), float64(s.Paused.P99))
}

// More is how many times as much of the machine's CPU is used as with the engine paused; "-" where none runs.
func (s Situation) More() string {
	if s.Paused == nil {
		return "-"
	}
	return Times(s.Used, s.Paused.Used)
}

// Milliseconds of a duration, with a tenth.
func Milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}

// Percent is a share in percent.
func Percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

// Times is how many times as much the one is as the other.
func Times(one, other float64) string {
	if other == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2fx", one/other)
}
