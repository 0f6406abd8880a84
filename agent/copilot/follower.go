package copilot

import (
	"context"
	"fmt"
	"path"
	"slices"
	"sync"
	"time"

	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/decision/nodeqos/eviction"
)

const (
	// interval is the time between two lists of an agent's containers. It is longer where listing takes long, so that it takes no
	// more than one part in idleFor of the time, but no longer than longest: the next list is made before this one is stale.
	interval = 2 * time.Second
	idleFor  = 10
	longest  = staleAfter - listTimeout
	// staleAfter is how long a list counts after it was made.
	staleAfter = 15 * time.Second
	// mostContainers of an agent are known; of more none is, because the cause is elsewhere.
	mostContainers = 20_000
	// mostParents of their cgroups are remembered: all containers of a scheduler are in one, as a rule.
	mostParents = 8
)

// FollowerOptions of a Follower.
type FollowerOptions struct {
	// Sockets of the agents.
	Sockets []string
	// Tree of the cgroups of the node, and how they are laid out.
	Tree   files.FS
	Layout cgroup.Layout
	Clock  clock.WithTicker
}

// Follower knows the containers of the agents of a node. Its methods may be called while it runs.
type Follower struct {
	options FollowerOptions
	agents  []*agent

	mu sync.Mutex
}

// agent is what is known of one agent. The follower's lock guards all but client, meter and before, which its own goroutine has.
type agent struct {
	client *Client
	meter  meter
	before map[string]reading

	status     Status
	containers []eviction.Container
}

// Status is what became of following one agent.
type Status struct {
	// Socket and Name of the agent; the name is empty until it was asked.
	Socket, Name string
	// At is when its containers were listed last; zero before the first time.
	At time.Time
	// Err is why they could not be since; nil when they could.
	Err error
	// Refused counts the containers of the list that cannot be used, and RefusedWhy is the reason of the first.
	Refused    int
	RefusedWhy error
	// Parents are the cgroups that its containers are directly in, sorted.
	Parents []string
}

// NewFollower returns a follower of agents that need not run yet.
func NewFollower(options FollowerOptions) *Follower {
	f := &Follower{options: options}
	for _, socket := range options.Sockets {
		f.agents = append(f.agents, &agent{
			client: NewClient(socket), meter: meter{tree: options.Tree, layout: options.Layout}, before: map[string]reading{}, status: Status{Socket: socket},
		})
	}
	return f
}

// Run follows the agents until the context ends. One that hangs holds no other up.
func (f *Follower) Run(ctx context.Context) {
	var group sync.WaitGroup
	for _, a := range f.agents {
		group.Go(func() { f.follow(ctx, a) })
	}
	group.Wait()
}

func (f *Follower) follow(ctx context.Context, a *agent) {
	for {
		began := f.options.Clock.Now()
		f.list(ctx, a)
		wait := min(max(interval, idleFor*f.options.Clock.Since(began)), longest)
		select {
		case <-ctx.Done():
			return
		case <-f.options.Clock.After(wait):
		}
	}
}

// list lists and measures the containers of an agent once.
func (f *Follower) list(ctx context.Context, a *agent) {
	name, listed, err := a.ask(ctx)
	now := f.options.Clock.Now()
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		a.fail(ctx, err)
		return
	}
	containers, status := a.measure(name, listed, now)
	f.mu.Lock()
	defer f.mu.Unlock()
	if other := f.named(name); other != nil && other != a {
		a.fail(ctx, fmt.Errorf("the agents at %s and %s are both called %s", other.status.Socket, a.status.Socket, name))
		return
	}
	if a.status.Err != nil || a.status.Name != name {
		klog.FromContext(ctx).Info("Following the containers of an agent", "agent", name, "socket", a.status.Socket, "containers", len(containers))
	}
	status.Socket = a.status.Socket
	a.status, a.containers = status, containers
}

// fail keeps what was known, and says so in the log when that is news. The follower's lock is held.
func (a *agent) fail(ctx context.Context, err error) {
	if a.status.Err == nil {
		klog.FromContext(ctx).Error(err, "Failed to list the containers of an agent, will retry", "socket", a.status.Socket)
	}
	a.status.Err = err
}

// ask asks an agent for its name and its containers.
func (a *agent) ask(ctx context.Context) (string, []Container, error) {
	information, err := a.client.Information(ctx)
	if err != nil {
		return "", nil, err
	}
	listed, err := a.client.Containers(ctx)
	if err == nil && len(listed) > mostContainers {
		err = fmt.Errorf("the agent at %s has %d containers, more than %d", a.client.socket, len(listed), mostContainers)
	}
	return information.Name, listed, err
}

// named returns the agent that has a name; nil where none does. The lock is held.
func (f *Follower) named(name string) *agent {
	i := slices.IndexFunc(f.agents, func(a *agent) bool { return a.status.Name == name })
	if i < 0 {
		return nil
	}
	return f.agents[i]
}

// measure makes what evictions look at of a list. Containers that are wrong, or share a name or a cgroup, are left out.
func (a *agent) measure(name string, listed []Container, now time.Time) ([]eviction.Container, Status) {
	status := Status{Name: name, At: now}
	var out []eviction.Container
	claimed := map[string]bool{}
	after := make(map[string]reading, len(listed))
	for i := range listed {
		container, at, err := a.read(name, &listed[i], claimed)
		if err != nil {
			if status.Refused++; status.RefusedWhy == nil {
				status.RefusedWhy = err
			}
			continue
		}
		if read, exists := a.meter.read(at, now); exists {
			container.CPUTime, container.Used = new(read.cpu), new(read.used(a.before[at]))
			after[at] = read
		}
		out = append(out, container)
		if parent := path.Dir(at); !slices.Contains(status.Parents, parent) && len(status.Parents) < mostParents {
			status.Parents = append(status.Parents, parent)
		}
	}
	slices.Sort(status.Parents)
	a.before = after
	return out, status
}

// read checks one container of a list, and returns its cgroup.
func (a *agent) read(name string, listed *Container, claimed map[string]bool) (eviction.Container, string, error) {
	if err := listed.validate(); err != nil {
		return eviction.Container{}, "", err
	}
	at, err := a.meter.layout.Foreign(listed.CgroupDir)
	if err != nil {
		return eviction.Container{}, "", fmt.Errorf("container %s: %w", listed.Name, err)
	}
	for _, key := range []string{"name " + listed.Name, "cgroup " + at} {
		if claimed[key] {
			return eviction.Container{}, "", fmt.Errorf("container %s: another one has its %s", listed.Name, key)
		}
		claimed[key] = true
	}
	namespace := listed.Namespace
	if namespace == "" {
		namespace = name
	}
	return eviction.Container{
		Agent: name, Namespace: namespace, Name: listed.Name, Priority: listed.Priority, Labels: listed.Labels, Created: listed.CreateTimestamp,
		Requests: AmountOf(listed.Resources.Requests),
	}, at, nil
}

// Containers are those of all agents that were listed lately.
func (f *Follower) Containers() []eviction.Container {
	now := f.options.Clock.Now()
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []eviction.Container
	for _, a := range f.agents {
		if !a.status.Stale(now) {
			out = append(out, a.containers...)
		}
	}
	return out
}

// Stale reports whether the list of an agent is too old at a time to be followed, or was never made.
func (s *Status) Stale(now time.Time) bool {
	age := now.Sub(s.At)
	return s.At.IsZero() || age < 0 || age > staleAfter
}

// Agents is what became of following them, in the order of their sockets.
func (f *Follower) Agents() []Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []Status
	for _, a := range f.agents {
		out = append(out, a.status)
	}
	return out
}

// Kill ends a container by its agent. The error wraps ErrNotFound when it is gone.
func (f *Follower) Kill(ctx context.Context, ref eviction.Ref) error {
	f.mu.Lock()
	a := f.named(ref.Agent)
	f.mu.Unlock()
	if a == nil {
		return fmt.Errorf("kill container %s: no agent is called %.64q", ref, ref.Agent)
	}
	return a.client.Kill(ctx, ref.Name)
}
