// Package network gives classes of pods their shares of what a node sends: it queues the packets of the device with the default
// route, and tells by the address of a pod to which class its packets belong.
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
)

// every is the time between two looks at the device.
const every = 10 * time.Second

// Options of a Keeper.
type Options struct {
	Control network.Control
	// Proc and Sys are the trees at /proc and /sys.
	Proc, Sys files.FS
	// Held keeps which device was changed.
	Held  executor.Store
	Audit *audit.Log
	// Clock tells when something was given back.
	Clock clock.PassiveClock
}

// Keeper implements qos.Keeper, and qos.Feature for net_cls.classid. State may be called at any time.
type Keeper struct {
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
	_ qos.Keeper  = (*Keeper)(nil)
	_ qos.Feature = (*Keeper)(nil)
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

// New returns a Keeper that holds the device of an earlier one, unless the machine was started anew since.
func New(options Options) (*Keeper, error) {
	k := &Keeper{options: options, boot: process.Boot(options.Proc)}
	var kept *device
	if _, err := options.Held.Load(&kept); err != nil {
		return nil, fmt.Errorf("remember the device that was changed: %w", err)
	}
	if kept != nil && kept.Boot == k.boot {
		k.held = kept
	}
	return k, nil
}

// Name implements qos.Keeper.
func (*Keeper) Name() string { return "TCNetworkQoS" }

// State returns what was seen last. It may be called at any time; what it returns must not be changed.
func (k *Keeper) State() State {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.state
}

// DesiredValues implements qos.Feature: processes of pods that use the network of the node have no address of their own. Version 2 of
// cgroups has no such setting.
func (k *Keeper) DesiredValues(in qos.Situation) []executor.DesiredValue {
	if k.held == nil || k.unsupported != "" {
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

// Keep implements qos.Keeper.
func (k *Keeper) Keep(ctx context.Context, in qos.Situation) error {
	addresses := addresses(in)
	if in.Now.Before(k.next) && !in.Now.Add(every).Before(k.next) && maps.Equal(addresses, k.seen) {
		return nil
	}
	k.next, k.seen = in.Now.Add(every), addresses
	link, err := network.Uplink(k.options.Control)
	if errors.Is(err, network.ErrNoUplink) {
		return k.off(ctx, in.Now, err.Error())
	}
	if err != nil {
		return err
	}
	annotation := ""
	if in.Node != nil {
		annotation = in.Node.Annotations[extension.AnnotationNodeNetworkBandwidth]
	}
	total, source := networkqos.TotalOf(in.SLO.SystemStrategy, annotation, k.speed(link.Attrs().Name))
	queues := networkqos.QueuesOf(in.SLO.ResourceQOSStrategy, total)
	if len(queues.Classes) == 0 {
		return k.off(ctx, in.Now, queues.Reason)
	}
	if k.held != nil && k.held.Index != link.Attrs().Index {
		if err := k.Release(ctx); err != nil { // the default route goes by another device
			return err
		}
	}
	state := State{At: in.Now, Device: link.Attrs().Name, Total: total, TotalSource: source, Classes: queues.Classes, Addresses: addresses, Problems: queues.Problems}
	err = k.apply(in, link, queues, addresses)
	k.learn(err)
	switch {
	case k.unsupported != "":
		state = State{At: in.Now, Unavailable: k.unsupported}
	case err != nil:
		state.Problems = append(state.Problems, err.Error())
	}
	k.tell(state)
	return err
}

// learn notes what an attempt to queue says of the machine. It is made again at each look: a module may be loaded meanwhile.
func (k *Keeper) learn(err error) {
	var unable *network.UnableError
	switch {
	case errors.As(err, &unable):
		k.unsupported = unable.Error()
	case err == nil:
		k.unsupported = ""
	}
}

// off gives the device back, and says why.
func (k *Keeper) off(ctx context.Context, at time.Time, why string) error {
	k.tell(State{At: at, Unavailable: why})
	return k.Release(ctx)
}

// apply sets the device, which is noted before.
func (k *Keeper) apply(in qos.Situation, link netlink.Link, queues networkqos.Queues, addresses map[netip.Addr]networkqos.Minor) error {
	if k.held == nil {
		found, err := network.DisciplineOf(k.options.Control, link)
		if err != nil {
			return err
		}
		if found.Handle != 0 {
			return fmt.Errorf("device %s sends by %s, which somebody has set", link.Attrs().Name, found)
		}
		held := &device{Boot: k.boot, Index: link.Attrs().Index, Name: link.Attrs().Name}
		if err := k.options.Held.Save(held); err != nil {
			return fmt.Errorf("remember the device that is changed: %w", err)
		}
		k.held = held
	}
	byCgroup := in.Layout.Version == cgroup.V1 && in.Tree.Exists("net_cls") && !k.withoutCgroups
	plan := network.Plan{Classes: queues.Classes, Default: networkqos.LS, Addresses: addresses, ByCgroup: byCgroup}
	changes, err := network.Apply(k.options.Control, link, plan)
	k.audit(in.Now, link.Attrs().Name, "shares of what the node sends", changes)
	if byCgroup && err != nil {
		plan.ByCgroup = false // many kernels have no such filter; addresses do without
		changes, err = network.Apply(k.options.Control, link, plan)
		k.audit(in.Now, link.Attrs().Name, "shares of what the node sends", changes)
		k.withoutCgroups = err == nil // else it was not the filter that failed
	}
	return err
}

// Release implements qos.Keeper. A device that went took everything with it.
func (k *Keeper) Release(context.Context) error {
	if k.held == nil {
		return nil
	}
	link, err := k.options.Control.LinkByIndex(k.held.Index)
	var gone netlink.LinkNotFoundError
	if err != nil && !errors.As(err, &gone) {
		return fmt.Errorf("find device %s: %w", k.held.Name, err)
	}
	if err == nil && link.Attrs().Name == k.held.Name {
		changes, err := network.Remove(k.options.Control, link)
		k.audit(k.options.Clock.Now(), k.held.Name, "the queues are not wanted any more", changes)
		if err != nil {
			return err
		}
	}
	k.held = nil
	if err := k.options.Held.Save(k.held); err != nil {
		return fmt.Errorf("forget the device that was changed: %w", err)
	}
	return nil
}

func (k *Keeper) audit(at time.Time, device, why string, changes []network.Change) {
	for _, change := range changes {
		entry := audit.Entry{Time: at, Owner: k.Name(), Object: device + " " + change.What, Old: change.Old, New: change.New, Why: why}
		if change.Err != nil {
			entry.Error = change.Err.Error()
		}
		k.options.Audit.Add(entry)
	}
}

func (k *Keeper) tell(state State) {
	k.mu.Lock()
	defer k.mu.Unlock()
	state.Unsupported = k.unsupported
	k.state = state
}

// speed of a network card in bits per second, which the kernel shows in megabits; 0 where it has none.
func (k *Keeper) speed(name string) networkqos.Rate {
	content, err := k.options.Sys.Read("class/net/"+name+"/speed", nil)
	if err != nil {
		return 0
	}
	megabits, err := strconv.ParseInt(strings.TrimSpace(string(content)), 10, 32)
	if err != nil || megabits <= 0 {
		return 0
	}
	return networkqos.Rate(megabits * 1_000_000)
}

// addresses of the pods that have some of their own, and the class of each.
func addresses(in qos.Situation) map[netip.Addr]networkqos.Minor {
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
