package app

import (
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"koordinator.sh/koord/scheduler/informer"
	"koordinator.sh/koord/scheduler/plugins/deviceshare"
	"koordinator.sh/koord/scheduler/plugins/nodenumaresource"
	"koordinator.sh/koord/scheduler/reservepods"
	"koordinator.sh/koord/scheduler/state"
	"koordinator.sh/koord/scheduler/state/devices"
	"koordinator.sh/koord/scheduler/state/gangs"
	"koordinator.sh/koord/scheduler/state/quotas"
	"koordinator.sh/koord/scheduler/state/reservations"
	"koordinator.sh/koord/scheduler/state/topologies"
)

// patience is how long the wait for custom resources lasts before it is logged.
const patience = 10 * time.Second

// shared is the state that all profiles of a scheduler, and its explanations, work on. There is one in a scheduler.
type shared struct {
	cluster    *state.Cluster
	topologies *topologies.State
	devices    *devices.State
	quotas     *quotas.State
	gangs      *gangs.State
	// reservations, and what writes them.
	reservations      *reservations.State
	reservationWriter reservations.Writer
	// bridge brings reservations into the queue and the cache of the scheduler.
	bridge *reservepods.Bridge
	// numaHooks and deviceHooks are where plugins of one profile find each other.
	numaHooks   *nodenumaresource.Hooks
	deviceHooks *deviceshare.Hooks
	// created are the plugins of the scheduler's profiles, those of explanations not among them.
	created createdPlugins
}

// newShared creates the state from the cluster that config reaches. Nothing is watched before run.
func newShared(config *rest.Config, core informers.SharedInformerFactory) (*shared, error) {
	pods, nodes := core.Core().V1().Pods().Informer(), core.Core().V1().Nodes().Informer()
	s := &shared{numaHooks: nodenumaresource.NewHooks(), deviceHooks: deviceshare.NewHooks()}
	var err error
	if s.cluster, err = state.NewCluster(config, pods); err != nil {
		return nil, err
	}
	if s.topologies, err = topologies.New(config, pods, nodes); err != nil {
		return nil, err
	}
	if s.devices, err = devices.New(config, pods, nodes); err != nil {
		return nil, err
	}
	if s.quotas, err = quotas.New(config, pods, nodes); err != nil {
		return nil, err
	}
	if s.gangs, err = gangs.New(config, pods); err != nil {
		return nil, err
	}
	if s.reservations, err = reservations.New(config, pods, nodes); err != nil {
		return nil, err
	}
	if s.reservationWriter, err = reservations.NewWriter(config); err != nil {
		return nil, err
	}
	s.bridge = reservepods.New(s.reservations, s.reservationWriter, time.Now)
	s.reservations.AddReservePodHandler(s.topologies.ReservePodHandler())
	s.reservations.AddReservePodHandler(s.devices.ReservePodHandler())
	return s, nil
}

// watched are the custom resources whose changes wake pods, with the informers that plugins use.
func (s *shared) watched() map[schema.GroupVersionResource]cache.SharedIndexInformer {
	return map[schema.GroupVersionResource]cache.SharedIndexInformer{
		state.NodeMetricResource: s.cluster.NodeMetrics(),
		topologies.Resource:      s.topologies.Informer(),
		devices.Resource:         s.devices.Informer(),
		quotas.Kind.Resource:     s.quotas.Informer(),
		gangs.Kind.Resource:      s.gangs.Informer(),
		reservations.Resource:    s.reservations.Informer(),
	}
}

// needed are the informers without whose objects scheduling would be wrong, and not only less informed.
func (s *shared) needed() []*informer.Informer {
	return []*informer.Informer{s.topologies.Informer(), s.devices.Informer(), s.quotas.Informer(), s.gangs.Informer()}
}

// run watches until the context ends.
func (s *shared) run(ctx context.Context) {
	var group sync.WaitGroup
	for _, part := range []func(context.Context){s.cluster.Run, s.topologies.Run, s.devices.Run, s.quotas.Run, s.gangs.Run, s.reservations.Run, s.bridge.Run} {
		group.Go(func() { part(ctx) })
	}
	group.Wait()
}

// settle waits until all needed objects are known, or known not to be served. It returns early when the context ends.
func (s *shared) settle(ctx context.Context) {
	needed := s.needed()
	settled := func(context.Context) (bool, error) {
		return !slices.ContainsFunc(needed, func(i *informer.Informer) bool { return !i.Settled() }), nil
	}
	err := wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, patience, true, settled)
	if err != nil && ctx.Err() == nil {
		klog.FromContext(ctx).Info("Still waiting for custom resources; no pod is scheduled before they are known")
		_ = wait.PollUntilContextCancel(ctx, 100*time.Millisecond, true, settled) // ends with the context
	}
}
