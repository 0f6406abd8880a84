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
	"koordinator.sh/koord/decision/nodeqos/suppression"
)

// Instructions are counted for a part of the time, because that costs open files and some of the services' time.
const (
	countEvery = time.Minute
	countFor   = 10 * time.Second
)

// Options of a Keeper.
type Options struct {
	// CPI switches counting of cycles and instructions on, and Pressure looking at the time that processes wait.
	CPI, Pressure bool
	Kernel        perf.Kernel
	Limits        decision.Limits
}

// Keeper implements qos.Keeper. State and Relief may be called at any time.
type Keeper struct {
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

var _ qos.Keeper = (*Keeper)(nil)

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

// New returns a Keeper that has seen nothing.
func New(options Options) (*Keeper, error) {
	if err := options.Limits.Validate(); err != nil {
		return nil, err
	}
	return &Keeper{options: options, services: map[types.UID]*service{}, counters: map[types.UID]perf.Counter{}}, nil
}

// Name implements qos.Keeper.
func (*Keeper) Name() string { return "CPICollector" }

// State returns what was seen last. It may be called at any time; what it returns must not be changed.
func (k *Keeper) State() State {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.state
}

// Relief is what best effort is to give up, as suppression takes it.
func (k *Keeper) Relief() suppression.Relief {
	k.mu.Lock()
	defer k.mu.Unlock()
	return suppression.Relief{Percent: k.state.Relief.Keeps(), Why: k.state.Relief.Reason}
}

// Keep implements qos.Keeper.
func (k *Keeper) Keep(_ context.Context, in qos.Situation) error {
	if in.Now.Before(k.last) {
		k.setBack()
	}
	k.last = in.Now
	measured, err := k.count(in)
	watched := map[types.UID]bool{}
	for _, pod := range in.Pods {
		if !watches(pod) {
			continue
		}
		watched[pod.UID] = true
		if k.services[pod.UID] == nil {
			k.services[pod.UID] = &service{}
		}
		k.observe(in, k.services[pod.UID], pod.UID, measured)
	}
	for uid := range k.services {
		if !watched[uid] {
			delete(k.services, uid)
		}
	}
	k.tell(in)
	return err
}

// setBack forgets when windows were, because the clock was set back: those that come now would all be older.
func (k *Keeper) setBack() {
	for _, s := range k.services {
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
func (k *Keeper) observe(in qos.Situation, s *service, uid types.UID, measured map[types.UID]float64) {
	window := decision.Window{End: in.Now, CPI: measured[uid]}
	if k.options.Pressure && in.PodPressure != nil {
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
	s.state = decision.Step(s.state, window, k.options.Limits, &s.trace)
}

// tell decides the relief and records what was seen.
func (k *Keeper) tell(in qos.Situation) {
	out := State{At: in.Now}
	var disturbed []string
	bestEffort := false
	for _, pod := range in.Pods {
		if pod.QoS() == extension.QoSBE && pod.Running() {
			bestEffort = true
		}
		s := k.services[pod.UID]
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
	k.relief = decision.Relieve(k.relief, in.Now, disturbed, bestEffort)
	out.Relief = k.relief
	switch {
	case !k.options.CPI:
		out.CPIUnavailable = "it is switched off"
	case k.unsupported != nil:
		out.CPIUnavailable = k.unsupported.Error()
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.state = out
}

// count begins and ends windows of counting, and returns cycles per instruction by pod when one has ended.
func (k *Keeper) count(in qos.Situation) (map[types.UID]float64, error) {
	if !k.options.CPI || in.Topology == nil {
		return nil, nil
	}
	if !k.asked {
		k.asked, k.unsupported = true, k.options.Kernel.Supported()
	}
	if k.unsupported != nil {
		return nil, nil
	}
	switch {
	case !k.counted.IsZero() && (in.Now.Sub(k.counted) >= countFor || in.Now.Before(k.counted)):
		return k.end(), nil
	case k.counted.IsZero() && (!in.Now.Before(k.next) || in.Now.Add(countEvery).Before(k.next)):
		return nil, k.begin(in)
	}
	return nil, nil
}

// begin counts all services. One that cannot be counted is left out.
func (k *Keeper) begin(in qos.Situation) error {
	k.counted, k.next = in.Now, in.Now.Add(countEvery)
	var problem error
	for _, pod := range in.Pods {
		if !watches(pod) {
			continue
		}
		counter, err := k.options.Kernel.Count(in.Layout.Pod(pod.Class(), pod.UID), in.Topology.CPUs.List())
		if err != nil {
			problem = fmt.Errorf("pod %s/%s: %w", pod.Object.Namespace, pod.Object.Name, err)
			continue
		}
		k.counters[pod.UID] = counter
	}
	return problem
}

// end reads what was counted.
func (k *Keeper) end() map[types.UID]float64 {
	k.counted = time.Time{}
	out := map[types.UID]float64{}
	for uid, counter := range k.counters {
		if sample, err := counter.Read(); err == nil { // else the pod went
			out[uid] = sample.CPI()
		}
		counter.Close()
	}
	clear(k.counters)
	return out
}

// Release implements qos.Keeper: it closes the counters. Best effort gets its CPU back by suppression.
func (k *Keeper) Release(context.Context) error {
	k.end()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.state, k.relief = State{}, decision.Relief{}
	return nil
}
