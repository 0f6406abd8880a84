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
	decision "koordinator.sh/koord/decision/nodeqos/resctrl"
)

// every is the time between two looks at the groups. New processes of a container inherit its group, but for those that the
// runtime starts in it.
const every = 10 * time.Second

// Options of a Keeper.
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
	// Clock tells when something was given back.
	Clock clock.PassiveClock
}

// Keeper implements qos.Keeper. State may be called at any time.
type Keeper struct {
	options Options
	// held are the groups that the agent makes or sets, by name.
	held map[string]*holding
	boot string
	next time.Time
	seen string

	mu    sync.Mutex
	state State
}

var _ qos.Keeper = (*Keeper)(nil)

// holding is a group that the agent has made, or found and set.
type holding struct {
	// Made is true for a group that was not there before.
	Made bool `json:"made"`
	// Original schemata of one that was.
	Original string `json:"original,omitempty"`
	// Containers whose threads the agent puts into a group that it has not made, by the names of their cgroups. They are on disk
	// before the first of their threads is moved; what such threads start is in the group as well, and goes back with them.
	Containers []string `json:"containers,omitempty"`
	// written is what was written last and how the kernel showed it then.
	written, shown string
}

// account is what is kept on disk.
type account struct {
	Boot   string              `json:"boot"`
	Groups map[string]*holding `json:"groups"`
}

// New returns a Keeper that holds what the store says an earlier one did, unless the machine was started anew since.
func New(options Options) (*Keeper, error) {
	k := &Keeper{options: options, held: map[string]*holding{}, boot: process.Boot(options.Proc)}
	var kept account
	found, err := options.Originals.Load(&kept)
	if err != nil {
		return nil, fmt.Errorf("restore what resctrl was before the agent: %w", err)
	}
	if found && kept.Boot == k.boot && kept.Groups != nil {
		k.held = kept.Groups
	}
	return k, nil
}

// Name implements qos.Keeper.
func (*Keeper) Name() string { return "RdtResctrl" }

func (k *Keeper) save() error {
	if err := k.options.Originals.Save(account{Boot: k.boot, Groups: k.held}); err != nil {
		return fmt.Errorf("keep what resctrl was before the agent: %w", err)
	}
	return nil
}

// Keep implements qos.Keeper. A machine without resctrl is no error: State says so.
func (k *Keeper) Keep(ctx context.Context, in qos.Situation) error {
	if !k.due(in) {
		return nil
	}
	tree, err := k.options.Open()
	if errors.Is(err, fs.ErrNotExist) {
		k.unavailable(in.Now, "this kernel has no resctrl")
		return nil
	}
	if err != nil {
		return fmt.Errorf("open resctrl: %w", err)
	}
	defer func() { _ = tree.Close() }() // everything was written file by file
	capability, err := resctrl.Probe(tree, k.options.Proc)
	if errors.Is(err, resctrl.ErrNotMounted) {
		k.unavailable(in.Now, "resctrl is not mounted at /sys/fs/resctrl")
		return nil
	}
	if err != nil {
		return fmt.Errorf("probe resctrl: %w", err)
	}
	round := &round{keeper: k, ctx: ctx, in: in, tree: tree, capability: capability}
	return round.run()
}

// due is true after some time, and at once when pods come, start or go.
func (k *Keeper) due(in qos.Situation) bool {
	var all strings.Builder
	for _, pod := range in.Pods {
		fmt.Fprintf(&all, "%s %s %s\n", pod.UID, pod.Object.ResourceVersion, pod.Object.Status.Phase)
	}
	pods := all.String()
	if pods == k.seen && in.Now.Before(k.next) && !in.Now.Add(every).Before(k.next) {
		return false
	}
	k.seen, k.next = pods, in.Now.Add(every)
	return true
}

// Release implements qos.Keeper.
func (k *Keeper) Release(ctx context.Context) error {
	if len(k.held) == 0 {
		return nil
	}
	tree, err := k.options.Open()
	if errors.Is(err, fs.ErrNotExist) {
		clear(k.held)
		return k.save()
	}
	if err != nil {
		return fmt.Errorf("open resctrl: %w", err)
	}
	defer func() { _ = tree.Close() }() // everything was written file by file
	round := &round{keeper: k, ctx: ctx, tree: tree, in: qos.Situation{Now: k.options.Clock.Now()}}
	return errors.Join(round.drop(nil), k.save())
}

// own lists the groups that the agent holds and that are there.
func (k *Keeper) own(existing []string) []string {
	return slices.DeleteFunc(slices.Clone(existing), func(name string) bool { return k.held[name] == nil })
}

// podsOf are the pods as the decision knows them.
func (k *Keeper) podsOf(in qos.Situation) (pods []decision.Pod, problems []string) {
	for _, pod := range in.Pods {
		if !pod.Running() {
			continue
		}
		out := decision.Pod{UID: string(pod.UID), QoS: pod.QoS()}
		if k.options.Pods {
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
