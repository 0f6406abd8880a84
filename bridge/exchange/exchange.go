// Package exchange tells both sides what is theirs of the batch resources: an engine what it may allocate up to on each node, and Kubernetes, in
// the annotation node.koordinator.sh/thirdPartyAllocations, what of it is not for pods.
package exchange

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"koordinator.sh/koord/bridge/engine"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/noderesource/thirdparty"
)

// Holdings is what pods hold of the nodes.
type Holdings interface {
	Of(node string) (held podrequest.Amount, agents []*corev1.Pod)
	Waiting(limit int) []podrequest.Amount
}

// Settings of an Exchange.
type Settings struct {
	// Args of the decision; Grain and Paired are the engine's.
	Args thirdparty.Args
	// Deadline of containers beyond a capacity, above zero.
	Deadline time.Duration
	// Period is how often the engine is asked when nothing else happens; its own allocations are seen no earlier.
	Period time.Duration
	// Gather is how long changes in Kubernetes are gathered before a round.
	Gather time.Duration
}

// Exchange is the loop between Kubernetes and one engine.
type Exchange struct {
	engine   engine.Engine
	client   client.Client
	holdings Holdings
	settings Settings
	clock    clock.Clock
	recorder events.EventRecorder

	wake chan struct{}
	// remembered is what is remembered of each node by its name.
	remembered map[string]*remembered
	// away is true while the engine could not be observed.
	away bool
	// failed is the error of the last round, which is logged once.
	failed string
}

// remembered is what one round leaves to the next.
type remembered struct {
	memory thirdparty.Memory
	// reported is the last reason that an event told of.
	reported thirdparty.Reason
	// warned is the warning of the engine that an event told of.
	warned string
	// doubled is true when an event told that several agents are on the node.
	doubled bool
	// remaining is true when an event told that a node which takes no work still runs some.
	remaining bool
	// over is since when the engine has used more than its capacity; zero while it does not.
	over time.Time
}

// New returns an exchange, which Start runs.
func New(e engine.Engine, c client.Client, holdings Holdings, settings Settings, recorder events.EventRecorder) *Exchange {
	return &Exchange{
		engine: e, client: c, holdings: holdings, settings: settings, clock: clock.RealClock{}, recorder: recorder,
		wake: make(chan struct{}, 1), remembered: map[string]*remembered{},
	}
}

// Wake has the next round start soon. It never blocks.
func (x *Exchange) Wake() {
	select {
	case x.wake <- struct{}{}:
	default:
	}
}

// Start runs rounds until ctx ends.
func (x *Exchange) Start(ctx context.Context) error {
	defer x.engine.Close()
	logger := klog.FromContext(ctx).WithValues("engine", x.engine.Name(), "cluster", x.engine.Cluster())
	ctx = klog.NewContext(ctx, logger)
	for {
		began := x.clock.Now()
		next, err := x.Round(ctx)
		if ctx.Err() != nil {
			return nil
		}
		x.count(ctx, err, x.clock.Since(began))
		if !x.wait(ctx, next) {
			return nil
		}
	}
}

// wait returns once the next round is due, or false when ctx has ended.
func (x *Exchange) wait(ctx context.Context, next time.Time) bool {
	period := x.settings.Period
	if until := next.Sub(x.clock.Now()); !next.IsZero() && until < period {
		period = max(until, x.settings.Gather)
	}
	timer := x.clock.NewTimer(period)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C():
		return true
	case <-x.wake:
	}
	gather := x.clock.NewTimer(x.settings.Gather)
	defer gather.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-gather.C():
		return true
	}
}
