// Package coresched keeps pods of different groups from running on one physical core at the same time: it gives the threads of
// each group's pods one cookie. Best-effort pods that are idle besides leave the core at once when a service wants it.
package coresched

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"koordinator.sh/koord/agent/audit"
	"koordinator.sh/koord/agent/executor"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/coresched"
	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/agent/host/process"
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/api/extension"
	decision "koordinator.sh/koord/decision/nodeqos/coresched"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
)

// reconcileInterval is the time between two passes over the threads. New ones inherit the cookie of who started them.
const reconcileInterval = 10 * time.Second

// Options of a Reconciler.
type Options struct {
	Kernel coresched.Kernel
	// Proc is the tree at /proc.
	Proc files.FS
	// Cookies keeps the cookies that were given out.
	Cookies executor.Store
	Audit   *audit.Log
	// Clock is the time at which something was restored.
	Clock clock.PassiveClock
}

// Reconciler implements qos.Reconciler, and qos.Feature for cpu.idle. State may be called at any time.
type Reconciler struct {
	options Options
	// assigned are the cookies that the agent gave out, by group.
	assigned map[string]uint64
	// pending is the thread that is about to get a new cookie; nil while none is.
	pending  *pending
	boot     string
	nextRun  time.Time
	podCount int
	// supported is true once the kernel said that it can; until then it is asked in each pass.
	supported bool

	mu    sync.Mutex
	state State
}

var (
	_ qos.Reconciler = (*Reconciler)(nil)
	_ qos.Feature    = (*Reconciler)(nil)
)

// State is what is known of core scheduling.
type State struct {
	At time.Time
	// Unavailable says why there is none; empty where there is.
	Unavailable string
	// Cookies by group, as the kernel shows them.
	Cookies map[string]uint64
	// Pods by UID, and the group of each.
	Pods map[string]decision.Group
	// Own are threads that gave themselves a cookie and keep it.
	Own []int
}

// storedState is what is kept on disk.
type storedState struct {
	Boot    string            `json:"boot"`
	Cookies map[string]uint64 `json:"cookies"`
	Pending *pending          `json:"pending,omitempty"`
}

// pending is kept before the kernel makes a cookie, whose value is not known before: an agent that is killed before it can keep the
// value finds the cookie by the thread.
type pending struct {
	Group  string `json:"group"`
	Thread int    `json:"thread"`
	Cgroup string `json:"cgroup"`
	// Before is the cookie that the thread had.
	Before uint64 `json:"before,omitempty"`
}

// New returns a Reconciler that knows the cookies of an earlier one, unless the machine was rebooted since.
func New(options Options) (*Reconciler, error) {
	r := &Reconciler{options: options, assigned: map[string]uint64{}, boot: process.Boot(options.Proc)}
	var kept storedState
	found, err := options.Cookies.Load(&kept)
	if err != nil {
		return nil, fmt.Errorf("remember the cookies that were given out: %w", err)
	}
	if found && kept.Boot == r.boot && kept.Cookies != nil {
		r.assigned = kept.Cookies
		r.adoptPending(kept.Pending)
	}
	return r, nil
}

// adoptPending takes over a cookie that an earlier agent had the kernel make, and did not live to keep. A thread that has ended, or whose
// number another one has, is passed over.
func (r *Reconciler) adoptPending(left *pending) {
	if left == nil || !qos.Within(r.options.Proc, left.Thread, left.Cgroup) {
		return
	}
	cookies, err := coresched.Cookies(r.options.Kernel, []int{left.Thread})
	if cookie := cookies[left.Thread]; err == nil && cookie != 0 && cookie != left.Before {
		r.assigned[left.Group] = cookie
	}
}

// Name implements qos.Reconciler.
func (*Reconciler) Name() string { return nodefeature.CoreSched.Name }

// State returns what was seen last. It may be called at any time; what it returns must not be changed.
func (r *Reconciler) State() State {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state
}

func (r *Reconciler) setState(state State) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state = state
}

// DesiredValues implements qos.Feature: pods that may run only when nothing else does are idle. It is the pods and not the cgroup
// above them, because kubelet gives that one shares when it starts, which the kernel refuses of an idle one.
func (r *Reconciler) DesiredValues(in qos.NodeSnapshot) []executor.DesiredValue {
	var values []executor.DesiredValue
	for _, pod := range in.Pods {
		if group := groupOf(in, pod.Object.Labels, string(pod.UID), pod.QoS()); pod.Running() && group.Idle {
			values = append(values, executor.DesiredValue{Setting: cgroup.CPUIdle, Cgroup: in.Layout.Pod(pod.Class(), pod.UID), Value: "1", Why: "idle under core scheduling"})
		}
	}
	return values
}

func groupOf(in qos.NodeSnapshot, labels map[string]string, uid string, class extension.QoSClass) decision.Group {
	group, policy := labels[extension.LabelCoreSchedGroupID], extension.CoreSchedPolicy(labels[extension.LabelCoreSchedPolicy])
	return decision.GroupOf(in.SLO.ResourceQOSStrategy, decision.Pod{UID: uid, QoS: class, GroupID: group, Policy: policy})
}

// Reconcile implements qos.Reconciler. A kernel without core scheduling is no error: State says so.
func (r *Reconciler) Reconcile(ctx context.Context, in qos.NodeSnapshot) error {
	if in.Now.Before(r.nextRun) && !in.Now.Add(reconcileInterval).Before(r.nextRun) && r.podCount == len(in.Pods) {
		return nil
	}
	r.nextRun, r.podCount = in.Now.Add(reconcileInterval), len(in.Pods)
	if !r.supported {
		if err := coresched.Supported(r.options.Kernel); err != nil {
			r.setState(State{At: in.Now, Unavailable: err.Error()})
			return nil
		}
		r.supported = true
	}
	return r.reconcilePods(ctx, in)
}

// reconcilePods covers all pods, also those without a group, which may have had one.
func (r *Reconciler) reconcilePods(ctx context.Context, in qos.NodeSnapshot) error {
	state := State{At: in.Now, Pods: map[string]decision.Group{}}
	pods := r.runningContainers(in, state.Pods)
	members, err := r.members(pods)
	if err != nil {
		return err
	}
	assignment := decision.Assign(r.assigned, members)
	var problems []error
	if !maps.Equal(assignment.Cookies, r.assigned) {
		r.assigned = assignment.Cookies
		problems = append(problems, r.save())
	}
	for _, change := range assignment.Changes {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		of := pods[change.Member]
		of.hasOwnCookie = slices.ContainsFunc(of.threads, func(thread int) bool { return slices.Contains(assignment.Own, thread) })
		problems = append(problems, r.change(in.Now, of, members, change))
	}
	state.Cookies, state.Own = maps.Clone(r.assigned), assignment.Own
	r.setState(state)
	return errors.Join(problems...)
}

// container is one with its threads: processes first, so that one call is for all threads of a process.
type container struct {
	name, cgroup string
	group        decision.Group
	processes    []int
	threads      []int
	// hasOwnCookie is true when one of the threads has a cookie that it gave itself, which one call for a whole process would take away.
	hasOwnCookie bool
}

// runningContainers lists the containers that run.
func (r *Reconciler) runningContainers(in qos.NodeSnapshot, groups map[string]decision.Group) []container {
	var out []container
	for _, pod := range in.Pods {
		if !pod.Running() {
			continue
		}
		group := groupOf(in, pod.Object.Labels, string(pod.UID), pod.QoS())
		groups[string(pod.UID)] = group
		for _, c := range in.Containers.Of(pod, in.Now) {
			found := container{name: pod.Object.Namespace + "/" + pod.Object.Name + "/" + c.Name, cgroup: c.Cgroup, group: group}
			found.processes = qos.Tasks(in.Tree, in.Layout, cgroup.Processes, c.Cgroup)
			found.threads = append(slices.Clone(found.processes), slices.DeleteFunc(qos.Tasks(in.Tree, in.Layout, cgroup.Threads, c.Cgroup), func(thread int) bool {
				return slices.Contains(found.processes, thread)
			})...)
			out = append(out, found)
		}
	}
	return out
}

// members reads the cookies of all threads.
func (r *Reconciler) members(containers []container) ([]decision.Member, error) {
	out := make([]decision.Member, len(containers))
	for i, c := range containers {
		out[i].Group = c.group
		cookies, err := coresched.Cookies(r.options.Kernel, c.threads)
		if err != nil {
			return nil, fmt.Errorf("read the cookies of %s: %w", c.name, err)
		}
		for _, thread := range c.threads {
			if cookie, runs := cookies[thread]; runs {
				out[i].Threads = append(out[i].Threads, decision.Thread{ID: thread, Cookie: cookie})
			}
		}
	}
	return out, nil
}

func (r *Reconciler) save() error {
	if err := r.options.Cookies.Save(storedState{Boot: r.boot, Cookies: r.assigned, Pending: r.pending}); err != nil {
		return fmt.Errorf("remember the cookies that were given out: %w", err)
	}
	return nil
}
