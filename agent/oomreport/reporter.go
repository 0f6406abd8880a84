package oomreport

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/agent/host/oomkill"
	"koordinator.sh/koord/agent/state"
)

const (
	// eventInterval is the time between two events about one container. What is killed meanwhile is in the next one.
	eventInterval = time.Minute
	// assignTimeout is how long the pod and the container of a kill are looked for: kubelet reports a container after it started.
	assignTimeout = 10 * time.Second
	// assignInterval is how often they are looked for, and forgetInterval how often pods that were deleted are forgotten.
	assignInterval = time.Second
	forgetInterval = time.Minute
	// maxUnassigned bounds the containers whose kills wait for their pod, as while the API server is unreachable from the start.
	maxUnassigned = 1024
)

// Options of a Reporter.
type Options struct {
	// Tree of cgroups, and where they are in it.
	Tree   files.FS
	Layout cgroup.Layout
	Events events.EventRecorder
	// Clock is real time where the tree is the kernel's.
	Clock clock.WithTicker
}

// Reporter counts kills by container and records events. All methods may be called at the same time, Run once.
type Reporter struct {
	options Options
	watcher *oomkill.Watcher
	// found is signaled for each kill.
	found chan struct{}

	mu sync.Mutex
	// running is true while the kernel is watched.
	running bool
	// killed are all processes that were found, the latest of them at a time.
	killed int64
	latest time.Time
	// unassigned are kills by the IDs of containers, and tallies by their names, which are empty for processes in no known container.
	unassigned map[containerKey]*unassigned
	tallies    map[containerKey]*tally
	// forgot is when pods that were deleted were forgotten last.
	forgot time.Time
}

// containerKey is a container of the pod whose cgroup has a UID.
type containerKey struct {
	pod       types.UID
	container string
}

// unassigned are processes of a container of which the name is not known yet.
type unassigned struct {
	processes int64
	since     time.Time
}

// tally is what is known of a container: how many processes were killed, and how many of them since the latest event.
type tally struct {
	killed, unreported int64
	reported           time.Time
}

// New returns a Reporter that does nothing until Run.
func New(options Options) *Reporter {
	return &Reporter{
		options: options, watcher: oomkill.New(oomkill.Options{Tree: options.Tree, Layout: options.Layout, Clock: options.Clock}),
		found: make(chan struct{}, 1), unassigned: map[containerKey]*unassigned{}, tallies: map[containerKey]*tally{},
	}
}

// Run reports what is killed from now on until the context ends.
func (r *Reporter) Run(ctx context.Context, cluster *state.State) {
	r.setRunning(true)
	defer r.setRunning(false)
	var group sync.WaitGroup
	defer group.Wait()
	group.Go(func() { r.watcher.Run(ctx, r.add) })
	ticker := r.options.Clock.NewTicker(assignInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.found: // at once: a pod that is not restarted may end within a second
		case <-ticker.C():
		}
		if now := r.options.Clock.Now(); r.due(now) && cluster.Known() {
			r.report(ctx, now, cluster.Objects())
		}
	}
}

func (r *Reporter) setRunning(running bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running = running
}

// add takes what was killed.
func (r *Reporter) add(kill oomkill.Kill) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.killed += kill.Processes
	r.latest = kill.Time
	key := containerKey{pod: kill.Pod, container: kill.Container}
	switch known := r.unassigned[key]; {
	case known != nil:
		known.processes += kill.Processes
	case len(r.unassigned) < maxUnassigned:
		r.unassigned[key] = &unassigned{processes: kill.Processes, since: kill.Time}
	}
	select {
	case r.found <- struct{}{}:
	default:
	}
}

// due reports whether there is anything to look for, to record or to forget.
func (r *Reporter) due(now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.unassigned) > 0 {
		return true
	}
	for _, tally := range r.tallies {
		if tally.due(now) {
			return true
		}
	}
	return len(r.tallies) > 0 && now.Sub(r.forgot) >= forgetInterval
}

// due reports whether an event is to be recorded.
func (t *tally) due(now time.Time) bool {
	return t.unreported > 0 && (t.reported.IsZero() || now.Sub(t.reported) >= eventInterval)
}

// report counts kills with the containers of pods, records events, and forgets pods that are not among them.
func (r *Reporter) report(ctx context.Context, now time.Time, pods map[types.UID]*corev1.Pod) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key, kill := range r.unassigned {
		if r.assign(ctx, now, key, kill, pods[key.pod]) {
			delete(r.unassigned, key)
		}
	}
	for key, tally := range r.tallies {
		switch pod := pods[key.pod]; {
		case pod == nil:
			delete(r.tallies, key)
		case tally.due(now):
			r.record(pod, key.container, tally.unreported)
			tally.unreported, tally.reported = 0, now
		}
	}
	r.forgot = now
}

// assign counts a kill with a container of its pod, and reports whether nothing is left to look for.
func (r *Reporter) assign(ctx context.Context, now time.Time, key containerKey, kill *unassigned, pod *corev1.Pod) bool {
	expired := now.Sub(kill.since) >= assignTimeout
	if pod == nil {
		if expired {
			klog.FromContext(ctx).V(2).Info("Kernel OOM-killed processes of a pod that does not exist", "podUID", key.pod, "processes", kill.processes)
		}
		return expired
	}
	found, known := containerOf(pod, key.container)
	if !known && key.container != "" && !expired {
		return false
	}
	name := containerKey{pod: key.pod, container: found.name}
	if r.tallies[name] == nil {
		r.tallies[name] = &tally{}
	}
	r.tallies[name].killed += kill.processes
	r.tallies[name].unreported += kill.processes
	return true
}

// Counts are the processes of a pod that were killed, by the names of containers. The name is empty for those in no known container.
func (r *Reporter) Counts(pod types.UID) map[string]int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := map[string]int64{}
	for key, tally := range r.tallies {
		if key.pod == pod {
			out[key.container] = tally.killed
		}
	}
	return out
}

// State is what a Reporter has found.
type State struct {
	// Running is true while the kernel is watched.
	Running bool
	// Killed are all processes that were killed since Run, and Latest is when the last one was found.
	Killed int64
	Latest time.Time
}

// State returns what was found so far.
func (r *Reporter) State() State {
	r.mu.Lock()
	defer r.mu.Unlock()
	return State{Running: r.running, Killed: r.killed, Latest: r.latest}
}
