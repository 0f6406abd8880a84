package printer

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/jobinsight"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/scheduling/quotaview"
)

// JobForecast is what is predicted of the job of a pod. Memory is in bytes, CPU in cores, times are in seconds.
type JobForecast struct {
	Job        jobinsight.Kind  `json:"job"`
	State      jobinsight.State `json:"state"`
	RanSeconds int64            `json:"ranSeconds"`
	Confidence float64          `json:"confidence"`
	Estimates  []JobEstimate    `json:"estimates"`
	Remaining  *JobRemaining    `json:"remaining,omitempty"`
	// Starts is when the quota of a job that waits has room for it; absent where that cannot be said.
	Starts *JobStart `json:"starts,omitempty"`
	// Ends is when it ends; for a job that waits, when it would if it started as Starts says, or now where that is not known.
	Ends *JobEnds `json:"ends,omitempty"`
	// Tries are all levels that were tried, for each metric.
	Tries []JobTry `json:"tries,omitempty"`
	// Incomplete names what could not be read.
	Incomplete []string `json:"incomplete,omitempty"`

	name string
}

// JobEstimate is one metric.
type JobEstimate struct {
	Metric string `json:"metric"`
	jobinsight.Estimate
	Basis     string   `json:"basis"`
	Requested *float64 `json:"requested,omitempty"`
}

// JobRemaining is how much longer a job will run, in seconds.
type JobRemaining struct {
	Point int64 `json:"point"`
	Low   int64 `json:"low"`
	High  int64 `json:"high"`
	// Longer is the share of former runs that took longer than this one has run already.
	Longer float64 `json:"longer"`
	// Overdue says that hardly any did.
	Overdue bool   `json:"overdue"`
	Runs    uint32 `json:"runs"`
	// Sources told of these runs.
	Sources jobinsight.Sources `json:"sources"`
	Basis   string             `json:"basis"`
}

// JobEnds are times.
type JobEnds struct {
	Point time.Time `json:"point"`
	Low   time.Time `json:"low"`
	High  time.Time `json:"high"`
}

// JobTry is a level that was tried for a metric, and what it had.
type JobTry struct {
	Metric  string `json:"metric"`
	Message string `json:"message"`
}

// NewJobForecast makes the answer about the pod of a name; start is when its quota has room, nil where that is not asked or not known, and missing
// what could not be read.
func NewJobForecast(name string, of *jobinsight.Answer, start *quotaview.Start, missing []string) JobForecast {
	f := JobForecast{Job: of.Forecast.Kind, State: of.Forecast.State, RanSeconds: int64(of.Forecast.Ran / time.Second),
		Confidence: of.Forecast.Confidence, Estimates: []JobEstimate{}, name: name}
	requests := podrequest.Of(of.Pod).Requests
	sum := requests.Of(podrequest.Plain).Add(requests.Of(podrequest.Batch)).Add(requests.Of(podrequest.Mid))
	requested := map[jobinsight.Metric]float64{jobinsight.Memory: float64(sum.Memory), jobinsight.CPU: float64(sum.MilliCPU) / 1000}
	for _, m := range jobinsight.Metrics() {
		estimate := of.Forecast.Of(m)
		if estimate == nil {
			continue
		}
		each := JobEstimate{Metric: m.String(), Estimate: *estimate, Basis: estimate.Level.String()}
		if value := requested[m]; value > 0 {
			each.Requested = &value
		}
		f.Estimates = append(f.Estimates, each)
	}
	f.Starts = newJobStart(start, of.Now)
	f.ends(of)
	for i := range of.Tries {
		try := &of.Tries[i]
		f.Tries = append(f.Tries, JobTry{Metric: try.Metric.String(), Message: try.Message()})
	}
	switch {
	case !of.Known:
		f.Incomplete = append(f.Incomplete, "koord-manager has not learned from any job yet, or its option --job-insight is off")
	case of.Loss.Any():
		f.Incomplete = append(f.Incomplete, "what was learned of jobs is damaged: "+of.Loss.String())
	}
	f.Incomplete = append(f.Incomplete, missing...)
	return f
}

func (f *JobForecast) ends(of *jobinsight.Answer) {
	at := func(point, low, high time.Duration) *JobEnds {
		return &JobEnds{Point: of.Now.Add(point).UTC(), Low: of.Now.Add(low).UTC(), High: of.Now.Add(high).UTC()}
	}
	if r := of.Forecast.Remaining; r != nil {
		f.Remaining = &JobRemaining{Point: int64(r.Point.Seconds()), Low: int64(r.Low.Seconds()), High: int64(r.High.Seconds()),
			Longer: r.Longer, Overdue: r.Overdue, Runs: r.Runs, Sources: r.Sources, Basis: r.Level.String()}
		f.Ends = at(r.Point, r.Low, r.High)
	}
	if d := of.Forecast.Of(jobinsight.Duration); d != nil && f.State == jobinsight.Pending {
		seconds := func(of float64) time.Duration { return time.Duration(of) * time.Second }
		f.Ends = at(seconds(d.Point), seconds(d.Low), seconds(d.High))
		if s := f.Starts; s.known() {
			f.Ends = &JobEnds{Point: s.Point.Add(seconds(d.Point)), Low: s.Low.Add(seconds(d.Low)), High: s.High.Add(seconds(d.High))}
		}
	}
}

// Job prints what is predicted of a job, and what it rests on.
func Job(w io.Writer, f JobForecast, o Options) error {
	var b strings.Builder
	wrapped(&b, o, 0, o.Style.Paint(Strong, o.Style.Clean(f.name))+"; "+o.say(f.head()))
	if len(f.Estimates) == 0 {
		wrapped(&b, o, 2, o.say("nothing is known of jobs like this one yet"))
		f.Starts.write(&b, o)
		_, err := io.WriteString(w, b.String())
		return err
	}
	b.WriteString("\n")
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	t := table{indent: 2, columns: []column{
		{header: "METRIC"}, {header: "LIKELY", right: true}, {header: "AT-LEAST", right: true}, {header: "AT-MOST", right: true}, {header: "REQUESTED", right: true},
		{header: "RUNS", right: true}, {header: "FROM"}, {header: "BASIS", flexible: 12, says: true},
	}}
	for i := range f.Estimates {
		e := &f.Estimates[i]
		requested := none
		if e.Requested != nil {
			requested = jobAmount(e.Metric, *e.Requested)
		}
		t.add(text(e.Metric), painted(Strong, jobAmount(e.Metric, e.Point)), text(jobAmount(e.Metric, e.Low)), text(jobAmount(e.Metric, e.High)), text(requested),
			text(strconv.FormatUint(uint64(e.Runs), 10)), text(e.Sources.String()), text(e.Basis))
	}
	if r := f.Remaining; r != nil {
		t.add(text("remaining"), painted(Strong, seconds(r.Point)), text(seconds(r.Low)), text(seconds(r.High)), text(none), text(strconv.FormatUint(uint64(r.Runs), 10)), text(r.Sources.String()), text(r.Basis))
	}
	if _, err := t.render(w, o); err != nil {
		return err
	}
	return f.notes(w, o)
}

// head says what the job is, and how far.
func (f *JobForecast) head() string {
	out := f.Job.String() + "; " + string(f.State)
	if f.State != jobinsight.Pending {
		out += " for " + seconds(f.RanSeconds)
	}
	return out
}

func (f *JobForecast) notes(w io.Writer, o Options) error {
	var b strings.Builder
	b.WriteString("\n")
	wrapped(&b, o, 0, o.say(fmt.Sprintf("The intervals cover %.0f%% of the runs.", 100*f.Confidence)))
	f.Starts.write(&b, o)
	if e := f.Ends; e != nil {
		format := "It ends at %s, between %s and %s."
		switch {
		case f.Starts.known():
			format = wouldEnd
		case f.State == jobinsight.Pending:
			format = "It would end at %s, between %s and %s, if it started now."
		}
		wrapped(&b, o, 0, o.say(fmt.Sprintf(format, e.Point.Format(time.RFC3339), e.Low.Format(time.RFC3339), e.High.Format(time.RFC3339))))
	}
	if r := f.Remaining; r != nil && r.Overdue {
		wrapped(&b, o, 0, o.Style.Paint(Warn, o.say("Hardly any former run took as long as this one has: what remains is a rough guess.")))
	}
	if f.held() {
		wrapped(&b, o, 0, o.say("Memory and CPU are what the containers of YARN held on average, not what they used."))
	}
	if o.Wide {
		for i := range f.Tries {
			wrapped(&b, o, 2, o.Style.Paint(Dim, o.Style.Clean(f.Tries[i].Metric)+": "+o.say(f.Tries[i].Message)))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// held says whether it is told of what containers held.
func (f *JobForecast) held() bool {
	return slices.ContainsFunc(f.Estimates, func(e JobEstimate) bool {
		return e.Metric != jobinsight.Duration.String() && e.Sources.Has(jobinsight.YARN)
	})
}

// jobAmount is the amount of a metric in the unit in which people read it.
func jobAmount(metric string, value float64) string {
	switch metric {
	case jobinsight.Memory.String():
		return Bytes(int64(value))
	case jobinsight.CPU.String():
		return Quantity(int64(value*1000), diagnosticsv1alpha1.MilliCPU)
	}
	return seconds(int64(value))
}
