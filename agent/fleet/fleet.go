package fleet

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"koordinator.sh/koord/agent/connection"
	"koordinator.sh/koord/agent/host"
)

// fleet is the state shared by all agents.
type fleet struct {
	opts      Options
	informers *informers
	reports   *reports
	// topologies of the nodes.
	topologies *topologies
	// port that the agents answer at; nil when there is none.
	port *port

	mu     sync.Mutex
	agents map[string]*agent
}

// Run runs the agents of all simulated nodes until the context ends. It returns an error when it cannot be started; an
// API server that is away, now or later, is waited for.
func Run(ctx context.Context, opts Options) error {
	opts, err := opts.withDefaults()
	if err != nil {
		return err
	}
	c, err := connect(opts)
	if err != nil {
		return fmt.Errorf("start simulated koordlets: %w", err)
	}
	f := &fleet{opts: opts, agents: map[string]*agent{}}
	if f.informers, err = newInformers(c, opts); err != nil {
		return fmt.Errorf("start simulated koordlets: %w", err)
	}
	metrics, err := newInstruments(opts.Registerer, f)
	if err != nil {
		return fmt.Errorf("start simulated koordlets: %w", err)
	}
	defer metrics.unregister(opts.Registerer)
	f.reports = newReports(c.SLOWrites, opts.Clock, f.agent, metrics)
	// Also when the context ends before there is anything to report to.
	defer f.reports.queue.ShutDown()
	if f.port, err = listen(ctx, opts); err != nil {
		return fmt.Errorf("start simulated koordlets: %w", err)
	}
	f.topologies = newTopologies(c.TopologyWrites, opts.Clock, f.informers, metrics)
	f.topologies.port = f.port
	defer f.topologies.queue.ShutDown()
	handling, err := f.follow(klog.FromContext(ctx))
	if err != nil {
		return fmt.Errorf("start simulated koordlets: %w", err)
	}
	f.run(ctx, c, handling)
	return nil
}

// readQPS bounds the reads per second by which questions about nodes are answered, three for each: what the client library allows by
// default would have a question about every node of a thousand take minutes.
const readQPS = 200

// connect makes the clients of a fleet.
func connect(opts Options) (*connection.Clients, error) {
	config := rest.CopyConfig(opts.RESTConfig)
	config.QPS, config.Burst, config.RateLimiter = readQPS, 2*readQPS, nil
	return connection.New(config, "simulated-koordlets", opts.QPS)
}

func (f *fleet) run(ctx context.Context, c *connection.Clients, handling []cache.InformerSynced) {
	var group sync.WaitGroup
	defer group.Wait()
	group.Go(func() { f.informers.nodes.RunWithContext(ctx) })
	group.Go(func() { f.informers.pods.RunWithContext(ctx) })
	group.Go(func() { f.topologies.run(ctx, c) })
	group.Go(func() { f.port.run(ctx, f, c) })
	if c.Await(ctx, connection.NodeMetrics) != nil {
		return
	}
	group.Go(func() { f.informers.metrics.RunWithContext(ctx) })
	if !cache.WaitForCacheSync(ctx.Done(), handling...) {
		return
	}
	group.Go(func() { f.reports.run(ctx) })
	f.drive(ctx)
}

// drive looks at all nodes at each tick.
func (f *fleet) drive(ctx context.Context) {
	work := make(chan *agent)
	var pool sync.WaitGroup
	defer pool.Wait()
	defer close(work)
	var round sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		pool.Go(func() {
			var scratch host.Snapshot
			for a := range work {
				if a.advance(f.opts.Clock.Now(), &scratch) {
					f.reports.due(a.name)
				}
				round.Done()
			}
		})
	}
	ticker := f.opts.Clock.NewTicker(DefaultTick)
	defer ticker.Stop()
	for {
		for _, a := range f.all() {
			round.Add(1)
			work <- a
		}
		round.Wait()
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
		}
	}
}

func (f *fleet) all() []*agent {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := make([]*agent, 0, len(f.agents))
	for _, a := range f.agents {
		all = append(all, a)
	}
	return all
}

// agent returns the agent of a node, nil when there is none.
func (f *fleet) agent(name string) *agent {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.agents[name]
}
