package jobtrace

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"koordinator.sh/koord/decision/core/jobinsight"
)

// GenerateOptions say which jobs are generated.
type GenerateOptions struct {
	// Seed of the random numbers: the same jobs for the same seed.
	Seed uint64
	// Days from the first job to the last; 28 by default.
	Days int
}

// Begin is the time of the first generated job, a Monday.
var Begin = time.Date(2030, time.January, 7, 0, 0, 0, 0, time.UTC)

const (
	applications = 120
	queues       = 6
	users        = 25
	// oneOffs is the share of jobs whose application never comes again.
	oneOffs = 0.08
	// failures is the share of runs that fail at some time before their end, and kills of those that are preempted.
	failures, kills = 0.03, 0.02
	gib             = 1 << 30
)

// application is a recurring application. Spreads are those of logarithms.
type application struct {
	kind                   jobinsight.Kind
	rate                   float64 // runs a day
	nightly, shared        bool    // shared by all users
	shapes                 int
	memory, cpu, duration  float64 // logarithms of the medians
	spread, tail           float64
	drift                  float64 // of the logarithm, per day
	stepDay                int     // from which its input is larger
	step                   float64
	requestMemory, request float64
}

// Generate returns jobs as clusters run them: recurring applications with a few runs a day up to dozens, most of them by day and some at
// night, some of them in shapes of different sizes, or by all users; durations of seconds to a day whose logarithms are spread normally or
// with heavy tails; applications that grow or shrink a bit every day, or grow at once; jobs that run only once; requests that are guessed once, most of them far too large and a few too small, which OOM kills end;
// and runs that fail or are preempted before their end.
func Generate(options GenerateOptions) []jobinsight.Job {
	if options.Days <= 0 {
		options.Days = 28
	}
	g := generator{random: rand.New(rand.NewPCG(options.Seed, 0x6a6f6273)), days: options.Days}
	var jobs []jobinsight.Job
	for i := range applications {
		app := g.application(i)
		for d := range options.Days {
			for range g.count(app.rate) {
				jobs = append(jobs, g.run(&app, d))
			}
		}
	}
	for i := range int(float64(len(jobs)) * oneOffs) {
		app := g.application(applications + i)
		app.shapes = 1
		jobs = append(jobs, g.run(&app, g.random.IntN(options.Days)))
	}
	return jobs
}

type generator struct {
	random *rand.Rand
	days   int
}

func (g *generator) application(i int) application {
	r := g.random
	app := application{
		kind: jobinsight.Kind{
			User: fmt.Sprintf("user-%d", r.IntN(users)), Queue: fmt.Sprintf("queue-%d", r.IntN(queues)),
			Application: fmt.Sprintf("app-%d", i),
		},
		shared: r.Float64() < 0.2, shapes: 1 + r.IntN(3),
		rate: math.Exp(math.Log(3) + 1.1*r.NormFloat64()), nightly: r.Float64() < 0.3,
		memory: math.Log(3*gib) + 0.9*r.NormFloat64(), cpu: math.Log(1.5) + 0.7*r.NormFloat64(), duration: math.Log(600) + 1.3*r.NormFloat64(),
		spread: 0.1 + 0.5*r.Float64(), stepDay: -1,
	}
	if r.Float64() < 0.3 {
		app.tail = 0.6
	}
	if r.Float64() < 0.3 {
		app.drift = 0.02 * r.NormFloat64()
	}
	if r.Float64() < 0.2 {
		app.stepDay, app.step = r.IntN(g.days), 0.4+0.6*r.Float64()
	}
	// Requests are those of a guess, once, and are then left as they are.
	app.requestMemory = math.Ceil(math.Exp(app.memory+0.9+0.5*r.NormFloat64())/gib*2) / 2 * gib
	app.request = math.Ceil(math.Exp(app.cpu + 0.5 + 0.4*r.NormFloat64()))
	return app
}

// count of runs on a day: Poisson.
func (g *generator) count(rate float64) (n int) {
	for product := g.random.Float64(); product > math.Exp(-rate); product *= g.random.Float64() {
		n++
	}
	return n
}

func (g *generator) run(app *application, onDay int) jobinsight.Job {
	r, kind, shape := g.random, app.kind, g.random.IntN(app.shapes)
	kind.Shape = fmt.Sprintf("query-%d", shape)
	if app.shared {
		kind.User = fmt.Sprintf("user-%d", r.IntN(users))
	}
	input := 0.6*float64(shape-app.shapes+1) + 0.5*app.spread*r.NormFloat64() + app.drift*float64(onDay)
	if app.stepDay >= 0 && onDay >= app.stepDay {
		input += app.step
	}
	duration := math.Exp(app.duration + input + app.spread*r.NormFloat64() + app.tail*r.ExpFloat64())
	duration = min(max(duration, 5), 24*3600)
	memory := math.Exp(app.memory + 0.7*input + 0.4*app.spread*r.NormFloat64())
	cpu := math.Exp(app.cpu + 0.3*app.spread*r.NormFloat64())
	job := jobinsight.Job{Submitted: Begin.Add(time.Duration(onDay)*24*time.Hour + g.hour(app.nightly)).Truncate(time.Second)}
	job.Started = job.Submitted.Add(time.Duration(r.ExpFloat64() * float64(2*time.Minute))).Truncate(time.Second)
	job.Kind, job.Outcome = kind, jobinsight.Completed
	switch at := r.Float64(); {
	case memory > app.requestMemory:
		job.Outcome, memory = jobinsight.OOMKilled, app.requestMemory
		duration *= 0.2 + 0.7*r.Float64()
	case at < failures:
		job.Outcome = jobinsight.Failed
	case at < failures+kills:
		job.Outcome = jobinsight.Killed
	}
	if job.Outcome == jobinsight.Failed || job.Outcome == jobinsight.Killed {
		done := r.Float64()
		duration, memory = max(duration*done, 1), memory*(0.5+0.5*done)
	}
	length := time.Duration(duration * float64(time.Second)).Round(time.Second)
	job.Ended = job.Started.Add(length)
	job.Values = jobinsight.Observed(math.Round(memory), math.Round(cpu*1000)/1000, length)
	job.Requested = jobinsight.Observed(app.requestMemory, app.request, 0)
	return job
}

// hour of the day of a submission: around 14:00 by day, around 2:00 at night.
func (g *generator) hour(nightly bool) time.Duration {
	middle, spread := 14.0, 3.5
	if nightly {
		middle, spread = 2, 1
	}
	return time.Duration(min(max(middle+spread*g.random.NormFloat64(), 0), 23.99) * float64(time.Hour))
}
