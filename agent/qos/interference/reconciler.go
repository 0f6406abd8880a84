// Package interference watches services for neighbours that disturb them: by the time that their processes wait, and by the cycles
// that their instructions cost. While one is disturbed, best-effort pods give up a part of their CPU.
package interference

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/agent/host/perf"
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/agent/state"
	"koordinator.sh/koord/api/extension"
	decision "koordinator.sh/koord/decision/nodeqos/interference"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
	"koordinator.sh/koord/decision/nodeqos/suppression"
)

// Instructions are counted for a part of the time, because that costs open files and some of the services' time.
const (
	countInterval = time.Minute
	countFor      = 10 * time.Second
)

// Options of a Reconciler.
type Options struct {
	// CPI switches counting of cycles and instructions on, and Pressure looking at the time that processes wait.
	CPI, Pressure bool
	Kernel        perf.Kernel
	Limits        decision.Limits
}

// Reconciler implements qos.Reconciler. State and Relief may be called at any time.
type Reconciler struct {
	options  Options
	services map[types.UID]*service
	counters map[types.UID]perf.Counter
	// last is the time of the latest look, and counted when counting began; zero while it is off.
	last, counted time.Time
	next          time.Time
	relief        decision.Relief
	// unsupported says why instructions cannot be counted; nil where they can, once asked is set.
	unsupported error
	asked       bool

	mu    sync.Mutex
	state State
}

var _ qos.Reconciler = (*Reconciler)(nil)

// service is a pod above best effort.
type service struct {
	state  decision.State
	trace  decision.Trace
	cpi    float64
	window time.Time
}

// State is what is known of interference.
type State struct {
	At time.Time
	// CPIUnavailable says why no instructions are counted; empty where they are.
	CPIUnavailable string
	// Services by namespace and name.
	Services []ServiceState
	// Relief that best effort gives.
	Relief decision.Relief
}

// ServiceState is one service.
type ServiceState struct {
	UID             types.UID
	Namespace, Name string
	State           decision.State
	// Trace of the window that was taken in last.
	Trace decision.Trace
	// CPI that was measured last; 0 while none was.
	CPI float64
}

// New returns a Reconciler that has seen nothing.
func New(options Options) (*Reconciler, error) {
	if err := options.Limits.Validate(); err != nil {
		return nil, err
	}
	return &Reconciler{options: options, services: map[types.UID]*service{}, counters: map[types.UID]perf.Counter{}}, nil
}

// Name implements qos.Reconciler.
func (*Reconciler) Name() string { return nodefeature.CPICollector.Name }

// State returns what was seen last. It may be called at any time; what it returns must not be changed.
func (r *Reconciler) State() State {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state
}

// Relief is what best effort is to give up, as suppression takes it.
func (r *Reconciler) Relief() suppression.Relief {
	r.mu.Lock()
	defer r.mu.Unlock()
	return suppression.Relief{Percent: r.state.Relief.Keeps(), Why: r.state.Relief.Reason}
}

// Reconcile implements qos.Reconciler.
func (r *Reconciler) Reconcile(_ context.Context, in qos.NodeSnapshot) error {
	if in.Now.Before(r.last) {
		r.resetWindows()
	}
	r.last = in.Now
	measured, err := r.count(in)
	watched := map[types.UID]bool{}
	for _, pod := range in.Pods {
		if !watches(pod) {
			continue
		}
		watched[pod.UID] = true
		if r.services[pod.UID] == nil {
			r.services[pod.UID] = &service{}
		}
		r.observe(in, r.services[pod.UID], pod.UID, measured)
	}
	for uid := range r.services {
		if !watched[uid] {
			delete(r.services, uid)
		}
	}
	r.updateRelief(in)
	return err
}

// resetWindows forgets when windows were, because the clock was set back: those that come now would all be older.
func (r *Reconciler) resetWindows() {
	for _, s := range r.services {
		s.window, s.state.Last = time.Time{}, time.Time{}
	}
}

// watches is true for services: everything above best effort that runs, but for the system's own.
func watches(pod *state.Pod) bool {
	switch pod.QoS() {
	case extension.QoSLS, extension.QoSLSR, extension.QoSLSE:
		return pod.Running()
	}
	return false
}

// observe takes in a window of a service, when there is a new one.
func (r *Reconciler) observe(in qos.NodeSnapshot, s *service, uid types.UID, measured map[types.UID]float64) {
	window := decision.Window{End: in.Now, CPI: measured[uid]}
	if r.options.Pressure && in.PodPressure != nil {
		if pressure, found := in.PodPressure(uid); found && pressure.To.After(s.window) {
			s.window = pressure.To
			window.Pressure = map[decision.Signal]float64{
				decision.CPUSome: pressure.CPU.Some * 100, decision.MemorySome: pressure.Memory.Some * 100, decision.MemoryFull: pressure.Memory.Full * 100,
				decision.IOSome: pressure.IO.Some * 100, decision.IOFull: pressure.IO.Full * 100,
			}
		}
	}
	if window.Pressure == nil && window.CPI == 0 {
		return
	}
	if window.CPI > 0 {
		s.cpi = window.CPI
	}
	s.state = decision.Step(s.state, window, r.options.Limits, &s.trace)
}

// updateRelief decides the relief and records what was seen.
func (r *Reconciler) updateRelief(in qos.NodeSnapshot) {
	out := State{At: in.Now}
	var disturbed []string
	bestEffort := false
	for _, pod := range in.Pods {
		if pod.QoS() == extension.QoSBE && pod.Running() {
			bestEffort = true
		}
		s := r.services[pod.UID]
		if s == nil {
			continue
		}
		if s.state.Verdict == decision.Noisy {
			disturbed = append(disturbed, pod.Object.Namespace+"/"+pod.Object.Name)
		}
		out.Services = append(out.Services, ServiceState{
			UID: pod.UID, Namespace: pod.Object.Namespace, Name: pod.Object.Name, State: s.state, Trace: s.trace, CPI: s.cpi,
		})
	}
	slices.SortFunc(out.Services, func(a, b ServiceState) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	r.relief = decision.Relieve(r.relief, in.Now, disturbed, bestEffort)
	out.Relief = r.relief
	switch {
	case !r.options.CPI:
		out.CPIUnavailable = "it is switched off"
	case r.unsupported != nil:
		out.CPIUnavailable = r.unsupported.Error()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state = out
}

// count begins and ends windows of counting, and returns cycles per instruction by pod when one has ended.
func (r *Reconciler) count(in qos.NodeSnapshot) (map[types.UID]float64, error) {
	if !r.options.CPI || in.Topology == nil {
		return nil, nil
	}
	if !r.asked {
		r.asked, r.unsupported = true, r.options.Kernel.Supported()
	}
	if r.unsupported != nil {
		return nil, nil
	}
	switch {
	case !r.counted.IsZero() && (in.Now.Sub(r.counted) >= countFor || in.Now.Before(r.counted)):
		return r.stopCounting(), nil
	case r.counted.IsZero() && (!in.Now.Before(r.next) || in.Now.Add(countInterval).Before(r.next)):
		return nil, r.startCounting(in)
	}
	return nil, nil
}

// startCounting counts all services. One that cannot be counted is left out.
func (r *Reconciler) startCounting(in qos.NodeSnapshot) error {
	r.counted, r.next = in.Now, in.Now.Add(countInterval)
	var problem error
	for _, pod := range in.Pods {
		if !watches(pod) {
			continue
		}
		counter, err := r.options.Kernel.Count(in.Layout.Pod(pod.Class(), pod.UID), in.Topology.CPUs.List())
		if err != nil {
			problem = fmt.Errorf("pod %s/%s: %w", pod.Object.Namespace, pod.Object.Name, err)
			continue
		}
		r.counters[pod.UID] = counter
	}
	return problem
}

// stopCounting reads what was counted.
func (r *Reconciler) stopCounting() map[types.UID]float64 {
	r.counted = time.Time{}
	out := map[types.UID]float64{}
	for uid, counter := range r.counters {
		if sample, err := counter.Read(); err == nil { // else the pod went
			out[uid] = sample.CPI()
		}
		counter.Close()
	}
	clear(r.counters)
	return out
}

// Restore implements qos.Reconciler: it closes the counters. Best effort gets its CPU back by suppression.
func (r *Reconciler) Restore(context.Context) error {
	r.stopCounting()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state, r.relief = State{}, decision.Relief{}
	return nil
}
