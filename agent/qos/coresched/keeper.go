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
)

// every is the time between two looks at the threads. New ones inherit the cookie of who started them.
const every = 10 * time.Second

// Options of a Keeper.
type Options struct {
	Kernel coresched.Kernel
	// Proc is the tree at /proc.
	Proc files.FS
	// Given keeps the cookies that were given out.
	Given executor.Store
	Audit *audit.Log
	// Clock tells when something was given back.
	Clock clock.PassiveClock
}

// Keeper implements qos.Keeper, and qos.Feature for cpu.idle. State may be called at any time.
type Keeper struct {
	options Options
	// given are the cookies that the agent gave out, by group.
	given map[string]uint64
	// pending is the thread that is about to get a cookie that nobody has yet; nil while none is.
	pending *pending
	boot    string
	next    time.Time
	seen    int
	// supported is true once the kernel said that it can; until then it is asked at each look.
	supported bool

	mu    sync.Mutex
	state State
}

var (
	_ qos.Keeper  = (*Keeper)(nil)
	_ qos.Feature = (*Keeper)(nil)
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

// account is what is kept on disk.
type account struct {
	Boot    string            `json:"boot"`
	Cookies map[string]uint64 `json:"cookies"`
	Pending *pending          `json:"pending,omitempty"`
}

// pending is kept before the kernel makes a cookie, whose value nobody knows before: an agent that is killed before it can keep the
// value finds the cookie by the thread.
type pending struct {
	Group  string `json:"group"`
	Thread int    `json:"thread"`
	Cgroup string `json:"cgroup"`
	// Before is the cookie that the thread had.
	Before uint64 `json:"before,omitempty"`
}

// New returns a Keeper that knows the cookies of an earlier one, unless the machine was started anew since.
func New(options Options) (*Keeper, error) {
	k := &Keeper{options: options, given: map[string]uint64{}, boot: process.Boot(options.Proc)}
	var kept account
	found, err := options.Given.Load(&kept)
	if err != nil {
		return nil, fmt.Errorf("remember the cookies that were given out: %w", err)
	}
	if found && kept.Boot == k.boot && kept.Cookies != nil {
		k.given = kept.Cookies
		k.adopt(kept.Pending)
	}
	return k, nil
}

// adopt takes over a cookie that an earlier agent had the kernel make, and did not live to keep. A thread that has ended, or whose
// number another one has, is passed over.
func (k *Keeper) adopt(left *pending) {
	if left == nil || !qos.Within(k.options.Proc, left.Thread, left.Cgroup) {
		return
	}
	cookies, err := coresched.Cookies(k.options.Kernel, []int{left.Thread})
	if cookie := cookies[left.Thread]; err == nil && cookie != 0 && cookie != left.Before {
		k.given[left.Group] = cookie
	}
}

// Name implements qos.Keeper.
func (*Keeper) Name() string { return "CoreSched" }

// State returns what was seen last. It may be called at any time; what it returns must not be changed.
func (k *Keeper) State() State {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.state
}

func (k *Keeper) tell(state State) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.state = state
}

// DesiredValues implements qos.Feature: pods that are to run only when nothing else does are idle. It is the pods and not the cgroup
// above them, because kubelet gives that one shares when it starts, which the kernel refuses of an idle one.
func (k *Keeper) DesiredValues(in qos.Situation) []executor.DesiredValue {
	var values []executor.DesiredValue
	for _, pod := range in.Pods {
		if group := groupOf(in, pod.Object.Labels, string(pod.UID), pod.QoS()); pod.Running() && group.Idle {
			values = append(values, executor.DesiredValue{Setting: cgroup.CPUIdle, Cgroup: in.Layout.Pod(pod.Class(), pod.UID), Value: "1", Why: "idle under core scheduling"})
		}
	}
	return values
}

func groupOf(in qos.Situation, labels map[string]string, uid string, class extension.QoSClass) decision.Group {
	group, policy := labels[extension.LabelCoreSchedGroupID], extension.CoreSchedPolicy(labels[extension.LabelCoreSchedPolicy])
	return decision.GroupOf(in.SLO.ResourceQOSStrategy, decision.Pod{UID: uid, QoS: class, GroupID: group, Policy: policy})
}

// Keep implements qos.Keeper. A kernel without core scheduling is no error: State says so.
func (k *Keeper) Keep(ctx context.Context, in qos.Situation) error {
	if in.Now.Before(k.next) && !in.Now.Add(every).Before(k.next) && k.seen == len(in.Pods) {
		return nil
	}
	k.next, k.seen = in.Now.Add(every), len(in.Pods)
	if !k.supported {
		if err := coresched.Supported(k.options.Kernel); err != nil {
			k.tell(State{At: in.Now, Unavailable: err.Error()})
			return nil
		}
		k.supported = true
	}
	return k.keep(ctx, in)
}

// keep looks at all pods, also at those without a group, which may have had one.
func (k *Keeper) keep(ctx context.Context, in qos.Situation) error {
	state := State{At: in.Now, Pods: map[string]decision.Group{}}
	pods := k.look(in, state.Pods)
	members, err := k.members(pods)
	if err != nil {
		return err
	}
	assignment := decision.Assign(k.given, members)
	var problems []error
	if !maps.Equal(assignment.Cookies, k.given) {
		k.given = assignment.Cookies
		problems = append(problems, k.save())
	}
	for _, change := range assignment.Changes {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		of := pods[change.Member]
		of.own = slices.ContainsFunc(of.threads, func(thread int) bool { return slices.Contains(assignment.Own, thread) })
		problems = append(problems, k.change(in.Now, of, members, change))
	}
	state.Cookies, state.Own = maps.Clone(k.given), assignment.Own
	k.tell(state)
	return errors.Join(problems...)
}

// container is one with its threads: processes first, so that one call is for all threads of a process.
type container struct {
	name, cgroup string
	group        decision.Group
	processes    []int
	threads      []int
	// own is true when one of the threads has a cookie that it gave itself, which one call for a whole process would take away.
	own bool
}

// look lists the containers that run.
func (k *Keeper) look(in qos.Situation, groups map[string]decision.Group) []container {
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
func (k *Keeper) members(containers []container) ([]decision.Member, error) {
	out := make([]decision.Member, len(containers))
	for i, c := range containers {
		out[i].Group = c.group
		cookies, err := coresched.Cookies(k.options.Kernel, c.threads)
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

func (k *Keeper) save() error {
	if err := k.options.Given.Save(account{Boot: k.boot, Cookies: k.given, Pending: k.pending}); err != nil {
		return fmt.Errorf("remember the cookies that were given out: %w", err)
	}
	return nil
}
