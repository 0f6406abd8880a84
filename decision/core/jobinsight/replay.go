package jobinsight

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Job is a recorded run, with what it requested.
type Job struct {
	Run
	// Submitted and Started; a job is predicted when it starts, from runs that had ended by then.
	Submitted, Started time.Time
	// Requested by metric; 0 where nothing is known. A duration is a time limit.
	Requested [metrics]float64
}

// ReplayOptions say how jobs are replayed.
type ReplayOptions struct {
	// Confidence of the intervals; 0.9 by default.
	Confidence float64
	// WarmUp is the time from the first job on whose predictions are not judged; 7 days by default.
	WarmUp time.Duration
	// Kinds bounds the store; 0 for DefaultKinds.
	Kinds int
}

// WithDefaults fills in what is not set.
func (o ReplayOptions) WithDefaults() ReplayOptions {
	o.Confidence = bounded(o.Confidence)
	if o.WarmUp <= 0 {
		o.WarmUp = 7 * day
	}
	return o
}

const day = 24 * time.Hour

// Report is how well jobs were predicted that were held out, which is those after the warm-up.
type Report struct {
	// Jobs of the record, HeldOut of them judged, and Early of these ended early: they are learned from, and judged in no rate.
	Jobs, HeldOut, Early int
	// Days that are held out, each with its own coverage.
	Days int
	// Metrics in order, and Remaining durations, asked when half of the predicted duration is over.
	Metrics   [metrics]MetricScore
	Remaining Coverage
	Levels    [levels]LevelScore
	// Kinds with their runs, those with the most first.
	Kinds []KindScore
	// Stored is how many kinds the store has in the end, and Bytes what it takes encoded.
	Stored, Bytes int
}

// MetricScore is how well one metric was predicted.
type MetricScore struct {
	Coverage
	// Unknown counts jobs that nothing was predicted for.
	Unknown int
	// LowestDay and HighestDay are coverages of days with enough predictions; 0 without any.
	LowestDay, HighestDay float64
	// Width is by which factor the ends of intervals differ, in the median; Error by which factor points and results do.
	Width, Error float64
	// Savings is the share of what was requested that would have been free if requests above the upper end of the interval had been
	// lowered to it, and none raised, weighed by the time that jobs ran. OracleSavings is the share that was not used.
	Savings, OracleSavings float64
	// Sized counts jobs with a request and a prediction, and TooSmall those of them that used more than the lowered request.
	Sized, TooSmall int
}

// LevelScore is what predictions by one level cover.
type LevelScore struct{ Metrics [metrics]Coverage }

// KindScore is what predictions for one kind cover.
type KindScore struct {
	Kind    Kind
	Runs    int
	Metrics [metrics]Coverage
}

// Coverage counts how results lie to their intervals.
type Coverage struct{ Judged, Below, Above int }

// Rate is the share of results inside of their intervals; 0 without any.
func (c *Coverage) Rate() float64 { return c.share(c.Judged - c.Below - c.Above) }

// Exceeded is the share of results above their intervals.
func (c *Coverage) Exceeded() float64 { return c.share(c.Above) }

func (c *Coverage) share(of int) float64 {
	if c.Judged == 0 {
		return 0
	}
	return float64(of) / float64(c.Judged)
}

func (c *Coverage) judge(value, low, high float64) {
	c.Judged++
	switch {
	case value < low:
		c.Below++
	case value > high:
		c.Above++
	}
}

// Replay predicts each job when it starts, from the jobs that had ended by then, and judges the predictions. The jobs are not changed.
func Replay(jobs []Job, options ReplayOptions) Report {
	options = options.WithDefaults()
	starting, ending := slices.Clone(jobs), slices.Clone(jobs)
	slices.SortStableFunc(starting, func(a, b Job) int { return a.Started.Compare(b.Started) })
	slices.SortStableFunc(ending, func(a, b Job) int { return a.Ended.Compare(b.Ended) })
	store := NewStore(options.Kinds)
	r := replay{options: options, kinds: map[Kind]*KindScore{}, days: map[int64]*[metrics]Coverage{}}
	r.report.Jobs = len(jobs)
	for i := range starting {
		job := &starting[i]
		for len(ending) > 0 && !ending[0].Ended.After(job.Started) {
			store.Observe(ending[0].Run)
			ending = ending[1:]
		}
		if job.Started.Sub(starting[0].Started) >= options.WarmUp {
			r.judge(store, job)
		}
	}
	for i := range ending {
		store.Observe(ending[i].Run)
	}
	return r.finish(store)
}

type replay struct {
	options ReplayOptions
	report  Report
	kinds   map[Kind]*KindScore
	days    map[int64]*[metrics]Coverage
	widths  [metrics][]float64
	errors  [metrics][]float64
	// requested, sized and used are weighed by durations.
	requested, sized, used [metrics]float64
}

func (r *replay) judge(store *Store, job *Job) {
	r.report.HeldOut++
	if job.Outcome != Completed {
		r.report.Early++
		return
	}
	prediction := store.Predict(job.Kind, r.options.Confidence, nil)
	kind := r.kinds[job.Kind]
	if kind == nil {
		kind = &KindScore{Kind: job.Kind}
		r.kinds[job.Kind] = kind
	}
	kind.Runs++
	of := job.Started.Unix() / int64(day/time.Second)
	if r.days[of] == nil {
		r.days[of] = &[metrics]Coverage{}
	}
	for m := range metrics {
		value := job.Values[m]
		if _, measured := m.log(value); !measured {
			continue
		}
		estimate := prediction.Of(m)
		r.save(m, job, estimate)
		if estimate == nil {
			r.report.Metrics[m].Unknown++
			continue
		}
		for _, each := range [...]*Coverage{
			&r.report.Metrics[m].Coverage, &r.report.Levels[estimate.Level].Metrics[m], &kind.Metrics[m], &r.days[of][m],
		} {
			each.judge(max(value, least[m]), estimate.Low, estimate.High)
		}
		r.widths[m] = append(r.widths[m], estimate.High/estimate.Low)
		r.errors[m] = append(r.errors[m], math.Exp(math.Abs(math.Log(max(value, least[m])/estimate.Point))))
	}
	r.judgeRemaining(store, job, prediction.Of(Duration))
}

// save adds up what the job requested, what it would have at the upper end, and what it used. Without a prediction it keeps its request.
func (r *replay) save(m Metric, job *Job, estimate *Estimate) {
	requested := job.Requested[m]
	if !(requested > 0) {
		return
	}
	weight := max(job.Values[Duration], least[Duration])
	if m == Duration {
		weight = 1
	}
	sized := requested
	if estimate != nil {
		sized = min(sized, estimate.High)
		of := &r.report.Metrics[m]
		of.Sized++
		of.TooSmall += int(indicator(job.Values[m] > sized && sized < requested))
	}
	r.requested[m] += weight * requested
	r.sized[m] += weight * sized
	r.used[m] += weight * job.Values[m]
}

// judgeRemaining asks for what remains when half of the predicted duration is over, of jobs that run then.
func (r *replay) judgeRemaining(store *Store, job *Job, estimate *Estimate) {
	if estimate == nil || job.Values[Duration] <= estimate.Point/2 {
		return
	}
	remaining, ok := store.Remaining(job.Kind, seconds(estimate.Point/2), r.options.Confidence)
	if ok {
		r.report.Remaining.judge(job.Values[Duration]-estimate.Point/2, remaining.Low.Seconds(), remaining.High.Seconds())
	}
}

// fewest is how many predictions of a day make its coverage a figure.
const fewest = 50

func (r *replay) finish(store *Store) Report {
	out := &r.report
	out.Days = len(r.days)
	for m := range metrics {
		of := &out.Metrics[m]
		of.Width, of.Error = median(r.widths[m]), median(r.errors[m])
		of.LowestDay = 1
		for _, day := range r.days {
			if day[m].Judged >= fewest {
				of.LowestDay, of.HighestDay = min(of.LowestDay, day[m].Rate()), max(of.HighestDay, day[m].Rate())
			}
		}
		if of.HighestDay == 0 {
			of.LowestDay = 0
		}
		if r.requested[m] > 0 {
			of.Savings, of.OracleSavings = 1-r.sized[m]/r.requested[m], 1-r.used[m]/r.requested[m]
		}
	}
	for _, kind := range r.kinds {
		out.Kinds = append(out.Kinds, *kind)
	}
	slices.SortFunc(out.Kinds, func(a, b KindScore) int {
		return cmp.Or(cmp.Compare(b.Runs, a.Runs), comparePlaces(place{kind: a.Kind}, place{kind: b.Kind}))
	})
	out.Stored = store.Len()
	for _, part := range store.Encode(1 << 20) {
		out.Bytes += len(part)
	}
	return *out
}

func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[len(values)/2]
}
