package printer

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"koordinator.sh/koord/decision/core/jobinsight"
	"koordinator.sh/koord/decision/core/phrase"
)

// JobReplay is how well recorded jobs were predicted.
type JobReplay struct {
	ReplayedJobs
	Metrics []JobScore
}

// ReplayedJobs is what was replayed, and what its predictions rest on.
type ReplayedJobs struct {
	// Trace is the file of the record, or how it was generated.
	Trace string `json:"trace"`
	// Jobs of the record, HeldOut of them judged on so many Days, and EndedEarly of those left out of every rate.
	Jobs       int `json:"jobs"`
	HeldOut    int `json:"heldOut"`
	Days       int `json:"days"`
	EndedEarly int `json:"endedEarly"`
	// Confidence of the intervals, from 0 to 1.
	Confidence float64 `json:"confidence"`
	// StoredKinds and StoredBytes are the store in the end.
	StoredKinds int             `json:"storedKinds"`
	StoredBytes int             `json:"storedBytes"`
	Levels      []GroupCoverage `json:"levels"`
	Kinds       []GroupCoverage `json:"kinds"`
}

// JobScore is how well one metric was predicted. Shares are from 0 to 1.
type JobScore struct {
	Metric   string  `json:"metric"`
	Judged   int     `json:"judged"`
	Coverage float64 `json:"coverage"`
	Exceeded float64 `json:"exceeded"`
	// Unknown counts jobs that nothing was predicted for.
	Unknown int `json:"unknown"`
	// LowestDay and HighestDay are coverages of days.
	LowestDay  float64 `json:"lowestDay,omitempty"`
	HighestDay float64 `json:"highestDay,omitempty"`
	// Width and Error are factors, in the median.
	Width float64 `json:"width,omitempty"`
	Error float64 `json:"error,omitempty"`
	// Savings is nil where no job has a request.
	Savings *JobSavings `json:"savings,omitempty"`
}

// JobSavings are what lower requests would have freed, as shares.
type JobSavings struct {
	Freed    float64 `json:"freed"`
	Unused   float64 `json:"unused"`
	TooSmall float64 `json:"tooSmall"`
}

// GroupCoverage is what intervals cover of one level, or of one kind; of metrics that were not predicted nothing.
type GroupCoverage struct {
	Name     string   `json:"name"`
	Runs     int      `json:"runs"`
	Memory   *float64 `json:"memory,omitempty"`
	CPU      *float64 `json:"cpu,omitempty"`
	Duration *float64 `json:"duration,omitempty"`
}

// NewJobReplay makes the answer of a report, with so many kinds.
func NewJobReplay(trace string, confidence float64, report jobinsight.Report, kinds int) JobReplay {
	r := JobReplay{ReplayedJobs: ReplayedJobs{
		Trace: trace, Jobs: report.Jobs, HeldOut: report.HeldOut, Days: report.Days, EndedEarly: report.Early, Confidence: confidence,
		StoredKinds: report.Stored, StoredBytes: report.Bytes,
	}}
	for _, m := range jobinsight.Metrics() {
		of := &report.Metrics[m]
		score := JobScore{Metric: m.String(), Judged: of.Judged, Coverage: of.Rate(), Exceeded: of.Coverage.Exceeded(), Unknown: of.Unknown,
			LowestDay: of.LowestDay, HighestDay: of.HighestDay, Width: of.Width, Error: of.Error}
		if of.Sized > 0 {
			score.Savings = &JobSavings{Freed: of.Savings, Unused: of.OracleSavings, TooSmall: float64(of.TooSmall) / float64(of.Sized)}
		}
		r.Metrics = append(r.Metrics, score)
	}
	remaining := report.Remaining
	r.Metrics = append(r.Metrics, JobScore{Metric: "remaining", Judged: remaining.Judged, Coverage: remaining.Rate(), Exceeded: remaining.Exceeded()})
	for l := range report.Levels {
		if group := coverageOf(jobinsight.Level(l).String(), 0, report.Levels[l].Metrics[:]); group.Runs > 0 {
			r.Levels = append(r.Levels, group)
		}
	}
	for _, kind := range report.Kinds[:min(kinds, len(report.Kinds))] {
		r.Kinds = append(r.Kinds, coverageOf(kind.Kind.String(), kind.Runs, kind.Metrics[:]))
	}
	return r
}

func coverageOf(name string, runs int, metrics []jobinsight.Coverage) GroupCoverage {
	g := GroupCoverage{Name: name, Runs: runs}
	for m, into := range []**float64{&g.Memory, &g.CPU, &g.Duration} {
		if of := &metrics[m]; of.Judged > 0 {
			rate := of.Rate()
			*into, g.Runs = &rate, max(g.Runs, of.Judged)
		}
	}
	return g
}

// tolerance is how far from what it states a coverage may be to count as good.
const tolerance = 0.03

// Jobs prints how well each metric was predicted, then levels and kinds, and what the columns mean.
func Jobs(w io.Writer, r JobReplay, o Options) error {
	t := table{columns: []column{
		{header: "METRIC"}, {header: "JUDGED", right: true}, {header: "COVERED", right: true}, {header: "EXCEEDED", right: true}, {header: "BY-DAY", right: true, drop: 2},
		{header: "WIDTH", right: true, drop: 3}, {header: "ERROR", right: true, drop: 4}, {header: "FREED", right: true}, {header: "UNUSED", right: true, drop: 1}, {header: "TOO-SMALL", right: true},
	}}
	for i := range r.Metrics {
		m := &r.Metrics[i]
		freed, unused, small := none, none, none
		if m.Savings != nil {
			freed, unused, small = share(m.Savings.Freed), share(m.Savings.Unused), share(m.Savings.TooSmall)
		}
		t.add(text(m.Metric), text(strconv.Itoa(m.Judged)), r.covered(m.Coverage), text(share(m.Exceeded)), text(byDay(m)),
			text(factor(m.Width)), text(factor(m.Error)), text(freed), text(unused), text(small))
	}
	if _, err := t.render(w, o); err != nil {
		return err
	}
	for _, part := range []struct {
		title, header string
		groups        []GroupCoverage
	}{{"Coverage by what predictions rest on", "BASIS", r.Levels}, {"Coverage by kind", "KIND", r.Kinds}} {
		if err := r.groups(w, part.title, part.header, part.groups, o); err != nil {
			return err
		}
	}
	var b strings.Builder
	b.WriteString("\n")
	wrapped(&b, o, 0, o.say(jobsSummary(r)))
	wrapped(&b, o, 0, o.Style.Paint(Dim, o.say("COVERED: share of results inside of their intervals; EXCEEDED: above them; WIDTH: upper by lower end, and ERROR: result by prediction or the reverse, in the median; FREED: share of the requests that lower ones at the upper end would have freed; UNUSED: share that was not used; TOO-SMALL: jobs that needed more than the lower request.")))
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *JobReplay) groups(w io.Writer, heading, header string, groups []GroupCoverage, o Options) error {
	if len(groups) == 0 {
		return nil
	}
	if err := title(w, heading, o); err != nil {
		return err
	}
	t := table{indent: 2, columns: []column{
		{header: header, flexible: 30}, {header: "RUNS", right: true}, {header: "MEMORY", right: true}, {header: "CPU", right: true}, {header: "DURATION", right: true},
	}}
	for i := range groups {
		g := &groups[i]
		cells := []cell{text(g.Name), text(strconv.Itoa(g.Runs))}
		for _, rate := range []*float64{g.Memory, g.CPU, g.Duration} {
			if rate == nil {
				cells = append(cells, text(none))
				continue
			}
			cells = append(cells, text(share(*rate)))
		}
		t.add(cells...)
	}
	_, err := t.render(w, o)
	return err
}

// covered is a coverage, good if it is about what is stated.
func (r *JobReplay) covered(rate float64) cell {
	role := Good
	if rate < r.Confidence-tolerance || rate > r.Confidence+tolerance {
		role = Warn
	}
	return painted(role, share(rate))
}

func byDay(m *JobScore) string {
	if m.HighestDay == 0 {
		return none
	}
	return fmt.Sprintf("%.0f-%.0f%%", 100*m.LowestDay, 100*m.HighestDay)
}

func factor(of float64) string {
	if of == 0 {
		return none
	}
	return "x" + strconv.FormatFloat(of, 'f', 2, 64)
}

func jobsSummary(r JobReplay) string {
	return fmt.Sprintf("%s: %s, %d held out on %s; intervals state %s. The store has %s in %s.", r.Trace, phrase.Counted(r.Jobs, "job"), r.HeldOut,
		phrase.Counted(r.Days, "day"), share(r.Confidence), phrase.Counted(r.StoredKinds, "kind"), Bytes(int64(r.StoredBytes)))
}
