// Package network gives classes of pods their shares of what a node sends: it queues the packets of the device with the default
// route, and classifies them by the address of the pod.
package network

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/vishvananda/netlink"
	"k8s.io/utils/clock"

	"koordinator.sh/koord/agent/audit"
	"koordinator.sh/koord/agent/executor"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/agent/host/network"
	"koordinator.sh/koord/agent/host/process"
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/nodeqos/networkqos"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
)

// reconcileInterval is the time between two passes over the device.
const reconcileInterval = 10 * time.Second

// Options of a Reconciler.
type Options struct {
	Control network.Control
	// Proc and Sys are the trees at /proc and /sys.
	Proc, Sys files.FS
	// Device keeps which device was changed.
	Device executor.Store
	Audit  *audit.Log
	// Clock is the time at which something was restored.
	Clock clock.PassiveClock
}

// Reconciler implements qos.Reconciler, and qos.Feature for net_cls.classid. State may be called at any time.
type Reconciler struct {
	options Options
	// held is the device that the agent has changed; nil while there is none.
	held *device
	boot string
	next time.Time
	seen map[netip.Addr]networkqos.Minor
	// withoutCgroups is set when the device can be set without a filter by cgroup only.
	withoutCgroups bool
	// unsupported is why nothing can be queued here, by the kernel's latest answer; empty where it can be, or was not tried.
	unsupported string

	mu    sync.Mutex
	state State
}

var (
	_ qos.Reconciler = (*Reconciler)(nil)
	_ qos.Feature    = (*Reconciler)(nil)
)

// device is one of the machine.
type device struct {
	Boot  string `json:"boot"`
	Index int    `json:"index"`
	Name  string `json:"name"`
}

// State is what is known of the node's queues.
type State struct {
	At time.Time
	// Device that is queued, and why none is when it is empty.
	Device, Unavailable string
	// Unsupported says why nothing can be queued on this machine, by the kernel's latest answer; empty where it can be, or was not tried.
	Unsupported string
	// Total bandwidth and where it is from.
	Total       networkqos.Rate
	TotalSource string
	Classes     []networkqos.QueueClass
	// Addresses of pods and the class of each.
	Addresses map[netip.Addr]networkqos.Minor
	Problems  []string
}

// New returns a Reconciler that holds the device of an earlier one, unless the machine was rebooted since.
func New(options Options) (*Reconciler, error) {
	r := &Reconciler{options: options, boot: process.Boot(options.Proc)}
	var kept *device
	if _, err := options.Device.Load(&kept); err != nil {
		return nil, fmt.Errorf("remember the device that was changed: %w", err)
	}
	if kept != nil && kept.Boot == r.boot {
		r.held = kept
	}
	return r, nil
}

// Name implements qos.Reconciler.
func (*Reconciler) Name() string { return nodefeature.TCNetworkQoS.Name }

// State returns what was seen last. It may be called at any time; what it returns must not be changed.
func (r *Reconciler) State() State {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state
}

// DesiredValues implements qos.Feature for pods on the host network, which have no address by which to classify them. Version 2 of
// cgroups has no such setting.
func (r *Reconciler) DesiredValues(in qos.NodeSnapshot) []executor.DesiredValue {
	if r.held == nil || r.unsupported != "" {
		return nil
	}
	var values []executor.DesiredValue
	for _, pod := range in.Pods {
		if !pod.Running() || !pod.Object.Spec.HostNetwork {
			continue
		}
		minor := networkqos.MinorOf(pod.QoS())
		for _, at := range append([]string{in.Layout.Pod(pod.Class(), pod.UID)}, cgroups(in.Containers.Of(pod, in.Now))...) {
			if path, has := in.Layout.Path(cgroup.NetworkClass, at); has && in.Tree.Exists(path) {
				values = append(values, executor.DesiredValue{
					Setting: cgroup.NetworkClass, Cgroup: at, Value: strconv.FormatUint(uint64(network.ClassID(minor)), 10), Why: "it sends by class 1:" + strconv.Itoa(int(minor)),
				})
			}
		}
	}
	return values
}

func cgroups(containers []qos.Container) []string {
	var out []string
	for _, container := range containers {
		out = append(out, container.Cgroup)
	}
	return out
}

// Reconcile implements qos.Reconciler.
func (r *Reconciler) Reconcile(ctx context.Context, in qos.NodeSnapshot) error {
	addresses := addresses(in)
	if in.Now.Before(r.next) && !in.Now.Add(reconcileInterval).Before(r.next) && maps.Equal(addresses, r.seen) {
		return nil
	}
	r.next, r.seen = in.Now.Add(reconcileInterval), addresses
	link, err := network.Uplink(r.options.Control)
	if errors.Is(err, network.ErrNoUplink) {
		return r.restoreDevice(ctx, in.Now, err.Error())
	}
	if err != nil {
		return err
	}
	annotation := ""
	if in.Node != nil {
		annotation = in.Node.Annotations[extension.AnnotationNodeNetworkBandwidth]
	}
	total, source := networkqos.TotalOf(in.SLO.SystemStrategy, annotation, r.speed(link.Attrs().Name))
	queues := networkqos.QueuesOf(in.SLO.ResourceQOSStrategy, total)
	if len(queues.Classes) == 0 {
		return r.restoreDevice(ctx, in.Now, queues.Reason)
	}
	if r.held != nil && r.held.Index != link.Attrs().Index {
		if err := r.Restore(ctx); err != nil { // the default route goes by another device
			return err
		}
	}
	state := State{At: in.Now, Device: link.Attrs().Name, Total: total, TotalSource: source, Classes: queues.Classes, Addresses: addresses, Problems: queues.Problems}
	err = r.apply(in, link, queues, addresses)
	r.recordSupport(err)
	switch {
	case r.unsupported != "":
		state = State{At: in.Now, Unavailable: r.unsupported}
	case err != nil:
		state.Problems = append(state.Problems, err.Error())
	}
	r.setState(state)
	return err
}

// recordSupport notes what an attempt to queue says of the machine. It is made again in each pass: a module may be loaded meanwhile.
func (r *Reconciler) recordSupport(err error) {
	var unable *network.UnableError
	switch {
	case errors.As(err, &unable):
		r.unsupported = unable.Error()
	case err == nil:
		r.unsupported = ""
	}
}

// restoreDevice gives the device back, and says why.
func (r *Reconciler) restoreDevice(ctx context.Context, at time.Time, why string) error {
	r.setState(State{At: at, Unavailable: why})
	return r.Restore(ctx)
}

// apply sets the device, which is noted before.
func (r *Reconciler) apply(in qos.NodeSnapshot, link netlink.Link, queues networkqos.Queues, addresses map[netip.Addr]networkqos.Minor) error {
	if r.held == nil {
		found, err := network.DisciplineOf(r.options.Control, link)
		if err != nil {
			return err
		}
		if found.Handle != 0 {
			return fmt.Errorf("device %s has queueing discipline %s, which koordlet did not create", link.Attrs().Name, found)
		}
		held := &device{Boot: r.boot, Index: link.Attrs().Index, Name: link.Attrs().Name}
		if err := r.options.Device.Save(held); err != nil {
			return fmt.Errorf("remember the device that is changed: %w", err)
		}
		r.held = held
	}
	byCgroup := in.Layout.Version == cgroup.V1 && in.Tree.Exists("net_cls") && !r.withoutCgroups
	plan := network.Plan{Classes: queues.Classes, Default: networkqos.LS, Addresses: addresses, ByCgroup: byCgroup}
	changes, err := network.Apply(r.options.Control, link, plan)
	r.audit(in.Now, link.Attrs().Name, "shares of what the node sends", changes)
	if byCgroup && err != nil {
		plan.ByCgroup = false // many kernels have no such filter; addresses do without
		changes, err = network.Apply(r.options.Control, link, plan)
		r.audit(in.Now, link.Attrs().Name, "shares of what the node sends", changes)
		r.withoutCgroups = err == nil // else it was not the filter that failed
	}
	return err
}

// Restore implements qos.Reconciler. A device that went took everything with it.
func (r *Reconciler) Restore(context.Context) error {
	if r.held == nil {
		return nil
	}
	link, err := r.options.Control.LinkByIndex(r.held.Index)
	var gone netlink.LinkNotFoundError
	if err != nil && !errors.As(err, &gone) {
		return fmt.Errorf("find device %s: %w", r.held.Name, err)
	}
	if err == nil && link.Attrs().Name == r.held.Name {
		changes, err := network.Remove(r.options.Control, link)
		r.audit(r.options.Clock.Now(), r.held.Name, "the queues are not wanted any more", changes)
		if err != nil {
			return err
		}
	}
	r.held = nil
	if err := r.options.Device.Save(r.held); err != nil {
		return fmt.Errorf("forget the device that was changed: %w", err)
	}
	return nil
}

func (r *Reconciler) audit(at time.Time, device, why string, changes []network.Change) {
	for _, change := range changes {
		entry := audit.Entry{Time: at, Owner: r.Name(), Object: device + " " + change.What, Old: change.Old, New: change.New, Why: why}
		if change.Err != nil {
			entry.Error = change.Err.Error()
		}
		r.options.Audit.Add(entry)
	}
}

func (r *Reconciler) setState(state State) {
	r.mu.Lock()
	defer r.mu.Unlock()
	state.Unsupported = r.unsupported
	r.state = state
}

// speed of a network card in bits per second, which the kernel shows in megabits; 0 where it has none.
func (r *Reconciler) speed(name string) networkqos.Rate {
	content, err := r.options.Sys.Read("class/net/"+name+"/speed", nil)
	if err != nil {
		return 0
	}
	megabits, err := strconv.ParseInt(strings.TrimSpace(string(content)), 10, 32)
	if err != nil || megabits <= 0 {
		return 0
	}
	return networkqos.Rate(megabits * 1_000_000)
}

// addresses returns the addresses of pods that are not on the host network, and the class of each.
func addresses(in qos.NodeSnapshot) map[netip.Addr]networkqos.Minor {
	out := map[netip.Addr]networkqos.Minor{}
	for _, pod := range in.Pods {
		if !pod.Running() || pod.Object.Spec.HostNetwork {
			continue
		}
		for _, ip := range pod.Object.Status.PodIPs {
			if address, err := netip.ParseAddr(ip.IP); err == nil {
				out[address.Unmap()] = networkqos.MinorOf(pod.QoS())
			}
		}
	}
	return out
}
