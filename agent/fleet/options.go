package fleet

import (
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"koordinator.sh/koord/agent/host/simulated"
	"koordinator.sh/koord/agent/host/trace"
	"koordinator.sh/koord/agent/prediction"
	"koordinator.sh/koord/agent/serving"
)

// Defaults of the options.
const (
	// DefaultSamplePeriod is in simulated time. A real agent samples every second; ten seconds keep a thousand machines
	// in one process small, and their percentiles over five minutes still rest on thirty samples.
	DefaultSamplePeriod = 10 * time.Second
	// DefaultTick is how often nodes are looked at, in real time.
	DefaultTick = time.Second
	// DefaultQPS bounds the writes per second of the whole fleet: reports and topologies.
	DefaultQPS = 200
	// minReportInterval is the shortest interval that can be forced.
	minReportInterval = time.Second
)

// Options of a fleet. Only RESTConfig is required.
type Options struct {
	// RESTConfig reaches the API server. Its rate limits are replaced.
	RESTConfig *rest.Config
	// Seed of the simulation: the same seed and the same pods use the same.
	Seed uint64
	// Speed is simulated seconds per second, 1 to 3600; 0 stands for 1. Windows and ages are in simulated time, report
	// intervals and the times in reports are real.
	Speed float64
	// Origin is when real and simulated time agree; the start of the fleet by default.
	Origin time.Time
	// ReportInterval overrides what NodeMetrics ask for, at least one second; 0 leaves it to them.
	ReportInterval time.Duration
	// Trace drives the load of prod pods; nil for the built-in profiles. It holds one recording at least.
	Trace *trace.Set
	// Prediction of what prod pods will not need.
	Prediction prediction.Options
	// SamplePeriod in simulated time, 1 s to 1 min; 10 s by default.
	SamplePeriod time.Duration
	// QPS bounds the writes per second of the whole fleet, reports and topologies together; 200 by default.
	QPS float32
	// Clock is real time; the system's by default.
	Clock clock.WithTicker
	// Registerer of the fleet's metrics while it runs; nil registers nowhere.
	Registerer prometheus.Registerer
	// Serving is the secured port at which all agents answer questions; nil for none. Its name, API server and clock are those of
	// the fleet.
	Serving *serving.Options
}

func (o Options) withDefaults() (Options, error) {
	if o.Speed == 0 {
		o.Speed = 1
	}
	if o.SamplePeriod == 0 {
		o.SamplePeriod = DefaultSamplePeriod
	}
	if o.QPS == 0 {
		o.QPS = DefaultQPS
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Origin.IsZero() {
		o.Origin = o.Clock.Now()
	}
	switch {
	case o.RESTConfig == nil:
		return o, errors.New("start simulated koordlets: no API server is given")
	case !(o.Speed >= 1 && o.Speed <= simulated.MaxSpeed):
		return o, fmt.Errorf("start simulated koordlets: speed %g must lie between 1 and %d simulated seconds per second", o.Speed, simulated.MaxSpeed)
	case o.SamplePeriod < time.Second || o.SamplePeriod > time.Minute:
		return o, fmt.Errorf("start simulated koordlets: sample period %s must lie between 1s and 1m", o.SamplePeriod)
	case o.ReportInterval != 0 && o.ReportInterval < minReportInterval:
		return o, fmt.Errorf("start simulated koordlets: report interval %s must be %s at least", o.ReportInterval, minReportInterval)
	case o.Trace != nil && len(o.Trace.Services)+len(o.Trace.VMs) == 0:
		return o, errors.New("start simulated koordlets: the trace holds no recording")
	case !(o.QPS > 0):
		return o, fmt.Errorf("start simulated koordlets: %g reports per second must be positive", o.QPS)
	}
	return o, nil
}

func (o Options) timeline() simulated.Timeline {
	return simulated.Timeline{Origin: o.Origin, Speed: o.Speed}
}
