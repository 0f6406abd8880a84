package printer

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"koordinator.sh/koord/decision/scheduling/quotaview"
)

// wouldEnd is when a job that waits ends, if it starts when its quota has room.
const wouldEnd = "It would end at %s, between %s and %s."

// JobStart is when the quota of a job that waits has room for it.
type JobStart struct {
	// Quota that has no room now, and what it lacks; empty where all have room.
	Quota   string `json:"quota,omitempty"`
	Message string `json:"message,omitempty"`
	// Point, Low and High are times; absent where they are not known.
	Point *time.Time `json:"point,omitempty"`
	Low   *time.Time `json:"low,omitempty"`
	High  *time.Time `json:"high,omitempty"`
	// After are the jobs that end before, the first first.
	After []JobEnd `json:"after,omitempty"`
	// Before counts pods that wait and get room before it, Lasting pods in the quota that are no jobs, Unknown jobs of which it is not known
	// how long they take, and Omitted pods that wait and were not looked at.
	Before  int `json:"before,omitempty"`
	Lasting int `json:"lasting,omitempty"`
	Unknown int `json:"unknown,omitempty"`
	Omitted int `json:"omitted,omitempty"`
}

// JobEnd is when a job ends.
type JobEnd struct {
	Namespace string    `json:"namespace"`
	Name      string    `json:"name"`
	At        time.Time `json:"at"`
}

func newJobStart(s *quotaview.Start, now time.Time) *JobStart {
	if s == nil {
		return nil
	}
	at := func(after *time.Duration) *time.Time {
		if after == nil {
			return nil
		}
		return new(now.Add(*after).UTC())
	}
	out := &JobStart{
		Quota: s.Quota, Message: s.Message, Point: at(s.Point), Low: at(s.Low), High: at(s.High),
		Before: s.Before, Lasting: s.Lasting, Unknown: s.Unknown, Omitted: s.Omitted,
	}
	for _, end := range s.Ends {
		out.After = append(out.After, JobEnd{Namespace: end.Namespace, Name: end.Name, At: *at(&end.After)})
	}
	return out
}

// known is true where the whole interval is, and lies ahead.
func (s *JobStart) known() bool { return s != nil && s.Quota != "" && s.Point != nil && s.High != nil }

// write says when the quota has room, and what that waits for.
func (s *JobStart) write(b *strings.Builder, o Options) {
	if s == nil {
		return
	}
	for _, line := range s.sentences() {
		wrapped(b, o, 0, o.say(line))
	}
}

// sentences say when the quota has room, and what that waits for.
func (s *JobStart) sentences() []string {
	if s.Quota == "" {
		return []string{"Its quota has room for it: it does not wait for its quota."}
	}
	out := []string{fmt.Sprintf("Its quota has no room for it now: %s.", s.Message), s.when()}
	if s.Before > 0 {
		out = append(out, fmt.Sprintf("Pods that wait and get room before it: %d.", s.Before))
	}
	if s.Omitted > 0 {
		out = append(out, fmt.Sprintf("It may take longer: %d more that wait were not looked at.", s.Omitted))
	}
	return out
}

func (s *JobStart) when() string {
	switch {
	case s.known():
		return fmt.Sprintf("It has room at %s, between %s and %s, %s.", stamp(s.Point), stamp(s.Low), stamp(s.High), s.after())
	case s.Point != nil:
		return fmt.Sprintf("It has room at %s, at the earliest at %s, and the latest is not known, %s.", stamp(s.Point), stamp(s.Low), s.after())
	}
	return fmt.Sprintf("When it has room is not known (pods in it that are no jobs: %d, jobs of unknown duration: %d).", s.Lasting, s.Unknown)
}

// after names the jobs that end before.
func (s *JobStart) after() string {
	if len(s.After) == 0 {
		return "when other quotas ask for less"
	}
	if len(s.After) == 1 {
		return "when job " + s.After[0].Name + " has ended"
	}
	return fmt.Sprintf("when %d jobs have ended, the last of them %s", len(s.After), s.After[len(s.After)-1].Name)
}

func stamp(at *time.Time) string { return at.Format(time.RFC3339) }

// Starting adds to a brief answer about a pod that waits for its quota when that has room, and when the pod would end.
func (a Brief) Starting(f JobForecast, namespace string) Brief {
	if f.Starts == nil || f.Starts.Quota == "" {
		return a
	}
	lines := []string{f.Starts.when()}
	if f.Starts.known() && f.Ends != nil {
		lines = append(lines, fmt.Sprintf(wouldEnd, f.Ends.Point.Format(time.RFC3339), f.Ends.Low.Format(time.RFC3339), f.Ends.High.Format(time.RFC3339)))
	}
	// The change that helps must not be the line that is cut.
	helps := slices.IndexFunc(a.Evidence, func(text string) bool { return strings.HasPrefix(text, thatHelps) })
	if helps >= 0 {
		lines = append(lines, a.Evidence[helps])
		a.Evidence = slices.Delete(slices.Clone(a.Evidence), helps, helps+1)
	}
	a.Evidence = slices.Concat(lines, a.Evidence)
	last := len(a.Next) - 1
	a.Next = slices.Insert(a.Next, max(last, 0), "koordctl forecast job "+f.name+" -n "+namespace)
	return a
}
