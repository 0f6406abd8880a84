package yarnagent

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"koordinator.sh/koord/agent/copilot"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/api/extension"
)

const (
	// name of the scheduler, and namespace of its containers.
	name = "yarn"
	// listAge is how old the NodeManager's answer may be for containers to be listed or killed by it; it is asked no more often.
	listAge = time.Second
	// askWithin is how long a request for containers waits for the NodeManager, which is slow where the node holds it back. It is less than
	// koordlet waits for an answer, which then is by the list before; the next synchronization gives the NodeManager more time.
	askWithin = time.Second
	// healthyPeriods is how many times the period of synchronization the list may be old for the agent to be healthy.
	healthyPeriods = 3
	millisPerCore  = 1000
)

// Labels of containers.
const (
	labelApplication = "yarn.hadoop.apache.org/application-id"
	labelMaster      = "yarn.hadoop.apache.org/application-master"
)

// agent knows the containers of one NodeManager. Its methods may be called at the same time.
type agent struct {
	manager *nodeManager
	groups  groups
	process processes
	clock   clock.WithTicker
	period  time.Duration
	grace   time.Duration
	// perVCore is what one vcore stands for, in milli-cores.
	perVCore int64

	// turn has a value while someone asks the NodeManager, so that one answer serves all who wait.
	turn chan struct{}
	// roster has what is known of its containers.
	roster roster
}

func newAgent(options *Options, tree Tree, proc files.FS, layout cgroup.Layout) (*agent, error) {
	above, err := options.containerCgroup(layout)
	if err != nil {
		return nil, err
	}
	return &agent{
		manager: newNodeManager(options.NodeManagerEndpoint), process: processes{proc: proc}, clock: options.Clock,
		groups: groups{tree: tree, layout: layout, above: above, complete: options.SyncMemoryCgroup},
		period: options.SyncCgroupPeriod, grace: options.KillGracePeriod,
		turn: make(chan struct{}, 1), perVCore: int64(math.Ceil(millisPerCore / options.VCoresPerCore)),
	}, nil
}

// run synchronizes cgroups with the NodeManager until the context ends.
func (a *agent) run(ctx context.Context) {
	ticker := a.clock.NewTicker(a.period)
	defer ticker.Stop()
	for {
		a.synchronize(ctx)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
		}
	}
}

// synchronize lists the containers, moves their processes, and removes cgroups of containers that ended.
func (a *agent) synchronize(ctx context.Context) {
	if !a.take(ctx) {
		return
	}
	defer a.yield()
	if !a.list(ctx) {
		return
	}
	listed := a.roster.known()
	a.adopt(ctx, listed)
	kept := map[string]bool{}
	for i := range listed {
		kept[listed[i].ID] = true
	}
	a.groups.sweep(kept)
}

// refresh lists the containers where the list is old, and moves the processes of new ones. Where that takes longer than askWithin, or
// someone else waits for the NodeManager that long, what was known stays.
func (a *agent) refresh(ctx context.Context) {
	asking, stop := context.WithTimeout(ctx, askWithin)
	defer stop()
	if !a.take(asking) {
		return
	}
	defer a.yield()
	if a.roster.fresh(a.clock.Now()) || !a.list(asking) {
		return
	}
	if found := a.roster.unadopted(); len(found) > 0 {
		a.adopt(ctx, found)
	}
}

// take takes the turn to ask the NodeManager; false where the context ends before.
func (a *agent) take(ctx context.Context) bool {
	select {
	case a.turn <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// yield leaves the turn to others.
func (a *agent) yield() { <-a.turn }

// list asks the NodeManager, by who has the turn.
func (a *agent) list(ctx context.Context) bool {
	a.roster.ask(a.clock.Now())
	listed, err := a.manager.running(ctx)
	if err != nil {
		if a.roster.fail(err, ctx.Err() != nil) {
			klog.FromContext(ctx).Error(err, "Failed to list the NodeManager's containers, will retry")
		}
		return false
	}
	if a.roster.set(listed, a.clock.Now()) {
		klog.FromContext(ctx).Info("Listed the NodeManager's containers", "running", len(listed))
	}
	return true
}

// adopt moves the processes of containers into their cgroups.
func (a *agent) adopt(ctx context.Context, wanted []task) {
	ids := map[string]bool{}
	for i := range wanted {
		ids[wanted[i].ID] = true
	}
	found, denied, err := a.process.of(ids)
	if err != nil {
		klog.FromContext(ctx).Error(err, "Failed to look for the processes of containers")
		return
	}
	if err := a.groups.leaveServices(found); err != nil {
		klog.FromContext(ctx).Error(err, "Failed to look for the processes of services, will retry")
		return
	}
	adopted := map[string]bool{}
	var problems []error
	for id := range ids {
		inside, _ := a.groups.members(a.groups.of(id)) // it may have no cgroup yet
		if len(found[id]) == 0 && len(inside) == 0 {
			if denied != nil {
				problems = append(problems, fmt.Errorf("container %s: no process was found, but not all could be looked at: %w", id, denied))
			}
			continue // it has not started yet, or has ended
		}
		if err := a.groups.adopt(id, found[id]); err != nil {
			problems = append(problems, fmt.Errorf("container %s: %w", id, err))
			continue
		}
		adopted[id] = true
	}
	a.roster.adopt(ids, adopted)
	if err := errors.Join(problems...); err != nil {
		klog.FromContext(ctx).Error(err, "Failed to move processes of containers into their cgroups, will retry")
	}
}

// containers are those that have processes, by their IDs.
func (a *agent) containers(ctx context.Context) ([]copilot.Container, error) {
	a.refresh(ctx)
	if _, _, err := a.roster.state(); err != nil {
		return nil, err
	}
	out := []copilot.Container{}
	for _, known := range a.roster.known() {
		if described, has := a.describe(&known); has {
			out = append(out, described)
		}
	}
	slices.SortFunc(out, func(x, y copilot.Container) int { return strings.Compare(x.Name, y.Name) })
	return out, nil
}

// describe is a container as koordlet knows it; false for one without processes.
func (a *agent) describe(t *task) (copilot.Container, bool) {
	at := a.groups.of(t.ID)
	pids, err := a.groups.members(at)
	if err != nil || len(pids) == 0 {
		return copilot.Container{}, false
	}
	app, master, _ := application(t.ID)
	band, _ := extension.PriorityBatch.Band()
	labels, priority := map[string]string{labelApplication: app}, band.Default
	if master {
		// Of an application that loses its master, all containers are lost: it goes after them.
		labels[labelMaster], priority = "true", band.Default+1
	}
	const mebi = 1 << 20
	return copilot.Container{
		Name: t.ID, Namespace: name, UID: t.ID, Labels: labels, Priority: priority, CreateTimestamp: a.process.started(pids), CgroupDir: at, HostNetwork: true,
		Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
			extension.BatchCPU:    *resource.NewQuantity(int64(t.VCores)*a.perVCore, resource.DecimalSI),
			extension.BatchMemory: *resource.NewQuantity(int64(t.MiB)*mebi, resource.BinarySI),
		}},
	}, true
}

// healthy says why the agent does not work; nil when it does.
func (a *agent) healthy() error {
	listed, failure, err := a.roster.state()
	if err != nil {
		return err
	}
	if age := a.clock.Since(listed); age > healthyPeriods*a.period {
		return fmt.Errorf("the NodeManager was listed %s ago: %w", age.Round(time.Second), failure)
	}
	return nil
}
