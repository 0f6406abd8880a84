package resctrl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"koordinator.sh/koord/agent/audit"
	"koordinator.sh/koord/agent/executor"
	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/agent/host/process"
	"koordinator.sh/koord/agent/host/resctrl"
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
	decision "koordinator.sh/koord/decision/nodeqos/resctrl"
)

// reconcileInterval is the time between two passes over the groups. New processes of a container inherit its group, but for those that the
// runtime starts in it.
const reconcileInterval = 10 * time.Second

// Options of a Reconciler.
type Options struct {
	// Classes switches the groups of classes on, Pods those of single pods, and Counters reading what groups use.
	Classes, Pods, Counters bool
	// Open opens the tree at /sys/fs/resctrl; fs.ErrNotExist says that the kernel has none.
	Open func() (resctrl.Tree, error)
	// Proc is the tree at /proc.
	Proc files.FS
	// Originals keeps what was there before.
	Originals executor.Store
	Audit     *audit.Log
	// Clock is the time at which something was restored.
	Clock clock.PassiveClock
}

// Reconciler implements qos.Reconciler. State may be called at any time.
type Reconciler struct {
	options Options
	// managed are the groups that the agent makes or sets, by name.
	managed  map[string]*managedGroup
	boot     string
	nextRun  time.Time
	seenPods string

	mu    sync.Mutex
	state State
}

var _ qos.Reconciler = (*Reconciler)(nil)

// managedGroup is a group that the agent has made, or found and set.
type managedGroup struct {
	// Made is true for a group that was not there before.
	Made bool `json:"made"`
	// Original schemata of one that was.
	Original string `json:"original,omitempty"`
	// Containers whose threads the agent puts into a group that it has not made, by the names of their cgroups. They are on disk
	// before the first of their threads is moved; what such threads start is in the group as well, and goes back with them.
	Containers []string `json:"containers,omitempty"`
	// written is what was written last and how the kernel showed it then.
	written, readBack string
}

// storedState is what is kept on disk.
type storedState struct {
	Boot   string                   `json:"boot"`
	Groups map[string]*managedGroup `json:"groups"`
}

// New returns a Reconciler that holds what the store says an earlier one did, unless the machine was rebooted since.
func New(options Options) (*Reconciler, error) {
	r := &Reconciler{options: options, managed: map[string]*managedGroup{}, boot: process.Boot(options.Proc)}
	var kept storedState
	found, err := options.Originals.Load(&kept)
	if err != nil {
		return nil, fmt.Errorf("restore what resctrl was before the agent: %w", err)
	}
	if found && kept.Boot == r.boot && kept.Groups != nil {
		r.managed = kept.Groups
	}
	return r, nil
}

// Name implements qos.Reconciler.
func (*Reconciler) Name() string { return nodefeature.RdtResctrl.Name }

func (r *Reconciler) save() error {
	if err := r.options.Originals.Save(storedState{Boot: r.boot, Groups: r.managed}); err != nil {
		return fmt.Errorf("keep what resctrl was before the agent: %w", err)
	}
	return nil
}

// Reconcile implements qos.Reconciler. A machine without resctrl is no error: State says so.
func (r *Reconciler) Reconcile(ctx context.Context, in qos.NodeSnapshot) error {
	if !r.due(in) {
		return nil
	}
	tree, err := r.options.Open()
	if errors.Is(err, fs.ErrNotExist) {
		r.unavailable(in.Now, "this kernel has no resctrl")
		return nil
	}
	if err != nil {
		return fmt.Errorf("open resctrl: %w", err)
	}
	defer func() { _ = tree.Close() }() // everything was written file by file
	capability, err := resctrl.Probe(tree, r.options.Proc)
	if errors.Is(err, resctrl.ErrNotMounted) {
		r.unavailable(in.Now, "resctrl is not mounted at /sys/fs/resctrl")
		return nil
	}
	if err != nil {
		return fmt.Errorf("probe resctrl: %w", err)
	}
	round := &round{reconciler: r, ctx: ctx, in: in, tree: tree, capability: capability}
	return round.run()
}

// due is true after some time, and at once when pods come, start or go.
func (r *Reconciler) due(in qos.NodeSnapshot) bool {
	var all strings.Builder
	for _, pod := range in.Pods {
		fmt.Fprintf(&all, "%s %s %s\n", pod.UID, pod.Object.ResourceVersion, pod.Object.Status.Phase)
	}
	pods := all.String()
	if pods == r.seenPods && in.Now.Before(r.nextRun) && !in.Now.Add(reconcileInterval).Before(r.nextRun) {
		return false
	}
	r.seenPods, r.nextRun = pods, in.Now.Add(reconcileInterval)
	return true
}

// Restore implements qos.Reconciler.
func (r *Reconciler) Restore(ctx context.Context) error {
	if len(r.managed) == 0 {
		return nil
	}
	tree, err := r.options.Open()
	if errors.Is(err, fs.ErrNotExist) {
		clear(r.managed)
		return r.save()
	}
	if err != nil {
		return fmt.Errorf("open resctrl: %w", err)
	}
	defer func() { _ = tree.Close() }() // everything was written file by file
	round := &round{reconciler: r, ctx: ctx, tree: tree, in: qos.NodeSnapshot{Now: r.options.Clock.Now()}}
	return errors.Join(round.removeUnwanted(nil), r.save())
}

// ownGroups lists the groups that the agent holds and that are there.
func (r *Reconciler) ownGroups(existing []string) []string {
	return slices.DeleteFunc(slices.Clone(existing), func(name string) bool { return r.managed[name] == nil })
}

// podsOf are the pods as the decision knows them.
func (r *Reconciler) podsOf(in qos.NodeSnapshot) (pods []decision.Pod, problems []string) {
	for _, pod := range in.Pods {
		if !pod.Running() {
			continue
		}
		out := decision.Pod{UID: string(pod.UID), QoS: pod.QoS()}
		if r.options.Pods {
			config, err := configOf(pod)
			if err != nil {
				problems = append(problems, fmt.Sprintf("pod %s/%s: %v", pod.Object.Namespace, pod.Object.Name, err))
			}
			out.Config = config
		}
		pods = append(pods, out)
	}
	return pods, problems
}
