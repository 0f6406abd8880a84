package reservepods

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	decision "koordinator.sh/koord/decision/scheduling/reservation"
	"koordinator.sh/koord/scheduler/part"
	"koordinator.sh/koord/scheduler/plugins/deviceshare"
	"koordinator.sh/koord/scheduler/plugins/nodenumaresource"
	"koordinator.sh/koord/scheduler/plugins/reservation"
	"koordinator.sh/koord/scheduler/services"
	"koordinator.sh/koord/scheduler/state/reservations"
)

// Part declares the plugin Reservation with the reservations that all profiles share, and what brings them into the queue and the
// cache of the scheduler.
func Part() part.Part {
	return part.Part{Name: reservation.Name, New: func(cluster *part.Cluster) (*part.Instance, error) {
		state, err := reservations.New(cluster.Config, cluster.Pods())
		if err != nil {
			return nil, err
		}
		if err := showAllocations(cluster, state); err != nil {
			return nil, err
		}
		writer, err := reservations.NewWriter(cluster.Config)
		if err != nil {
			return nil, err
		}
		return connect(cluster, state, writer), nil
	}}
}

// showAllocations has the states of CPUs and devices follow what reservations still hold.
func showAllocations(cluster *part.Cluster, state *reservations.State) error {
	topologies, err := nodenumaresource.StateOf(cluster)
	if err != nil {
		return err
	}
	devices, err := deviceshare.StateOf(cluster)
	if err != nil {
		return err
	}
	state.AddReservePodHandler(topologies.ReservePodHandler())
	state.AddReservePodHandler(devices.ReservePodHandler())
	return nil
}

// connect is the part with all that it does in a scheduler.
func connect(cluster *part.Cluster, state *reservations.State, writer reservations.Writer) *part.Instance {
	bridge := New(state, writer, cluster.Now)
	cpus, devices := nodenumaresource.HooksOf(cluster), deviceshare.HooksOf(cluster)
	preferring := func(factory frameworkruntime.PluginFactory) frameworkruntime.PluginFactory {
		return preferReserved(factory, cpus, devices)
	}
	instance := reservation.Instance(state, writer, cluster.Now, preferring)
	instance.Watches = map[schema.GroupVersionResource]cache.SharedIndexInformer{reservations.Resource: state.Informer()}
	instance.Seams = bridge.Seams()
	instance.Run = func(ctx context.Context) {
		var running sync.WaitGroup
		running.Go(func() { bridge.Run(ctx) })
		state.Run(ctx)
		running.Wait()
	}
	instance.Discard = bridge.Discard
	instance.Services = []services.Provider{services.Reservations{State: state}}
	instance.Controllers = func(with *part.Controllers) ([]func(context.Context), error) {
		args, err := decision.DecodeArgs(with.Args(reservation.Name))
		if err != nil {
			return nil, err
		}
		core := with.Informers.Core().V1()
		controller, err := NewController(Options{
			State: state, Writer: writer, Client: with.Pods, Pods: core.Pods().Informer(), Nodes: core.Nodes().Informer(),
			Args: args, Leading: with.Leads, Now: with.Now,
		})
		if err != nil {
			return nil, err
		}
		return []func(context.Context){controller.Run}, nil
	}
	return instance
}
