// Package orphans reports pods that hold devices which are gone, replaced or not healthy. It runs in the scheduler, in the
// leader only.
package orphans

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"

	"koordinator.sh/koord/api/finding"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/core/podstate"
	"koordinator.sh/koord/decision/scheduling/device"
	"koordinator.sh/koord/scheduler/eventthrottle"
)

// interval is the time between two checks of all allocations.
const interval = 15 * time.Second

// State is what the controller reads.
type State interface {
	// Settled is true once all Devices are known.
	Settled() bool
	// Any is true when some node has a Device.
	Any() bool
	// Node returns what the Device of a node offers, nil when the node has none.
	Node(name string) *device.Node
}

// Config of a controller.
type Config struct {
	State State
	Pods  corelisters.PodLister
	Nodes corelisters.NodeLister
	// Recorder writes an event on each pod that has an orphan.
	Recorder events.EventRecorder
	Now      func() time.Time
}

// Controller of one scheduler. Run must not be called twice.
type Controller struct {
	Config
	reported *eventthrottle.Board[orphan]
	counted  map[metricLabels]int
}

// orphan is one allocation with what distinguishes it from others.
type orphan struct {
	device.Orphan
	node string
	uid  types.UID
}

// New returns a controller that does nothing before Run.
func New(config Config) *Controller {
	registerMetrics()
	return &Controller{Config: config, reported: eventthrottle.NewBoard[orphan]()}
}

// Run checks all allocations until the context ends, which it must when another scheduler becomes the leader.
func (c *Controller) Run(ctx context.Context) {
	defer c.count(nil) // another scheduler counts from then on
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		if err := c.check(); err != nil {
			klog.FromContext(ctx).Error(err, "Failed to look for allocations of devices that are gone, will retry", "after", interval)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// check finds all orphans, reports those that are new or have lasted for long, and counts them.
func (c *Controller) check() error {
	if !c.State.Settled() {
		return nil
	}
	found, pods, err := c.find()
	if err != nil {
		return err
	}
	counted := map[metricLabels]int{}
	for _, one := range found {
		counted[metricLabels{node: one.node, device: one.Type}]++
	}
	for _, one := range c.reported.Due(c.Now(), found) {
		related := &corev1.ObjectReference{APIVersion: schedulingv1alpha1.GroupVersion.String(), Kind: "Device", Name: one.node}
		c.Recorder.Eventf(pods[one.uid], related, corev1.EventTypeWarning, "DeviceStray", "Watching", "%s: the pod holds %s %d of node %s: %s",
			finding.DeviceStray, one.Type, one.Minor, one.node, one.Reason)
	}
	c.count(counted)
	return nil
}

// find returns all orphans, in order of node, pod and device, and the pods that have some.
func (c *Controller) find() ([]orphan, map[types.UID]*corev1.Pod, error) {
	pods := map[types.UID]*corev1.Pod{}
	if !c.State.Any() {
		return nil, pods, nil
	}
	byNode, err := c.held()
	if err != nil {
		return nil, nil, err
	}
	var found []orphan
	for name, held := range byNode {
		offer := c.State.Node(name)
		node, err := c.Nodes.Get(name)
		if offer == nil || err != nil {
			continue // nothing is known of a node without a Device, and the pods of a deleted node are about to go
		}
		byName := map[string]*corev1.Pod{}
		for _, one := range held {
			byName[one.Pod.Namespace+"/"+one.Pod.Name] = one.Pod
		}
		for _, lost := range device.NewLedger(offer, node.Labels, held).Orphans() {
			pod := byName[lost.Pod]
			found = append(found, orphan{Orphan: lost, node: name, uid: pod.UID})
			pods[pod.UID] = pod
		}
	}
	slices.SortFunc(found, func(a, b orphan) int {
		return cmp.Or(cmp.Compare(a.node, b.node), cmp.Compare(a.Pod, b.Pod), cmp.Compare(a.Type, b.Type), cmp.Compare(a.Minor, b.Minor))
	})
	return found, pods, nil
}

// held are the allocations of all pods that have a node and have not ended, by node.
func (c *Controller) held() (map[string][]device.Held, error) {
	pods, err := c.Pods.List(labels.Everything())
	if err != nil {
		return nil, fmt.Errorf("list pods: %w", err)
	}
	byNode := map[string][]device.Held{}
	for _, pod := range pods {
		if pod.Spec.NodeName == "" || podstate.Ended(pod) {
			continue
		}
		if allocation, holds := device.HeldBy(pod); holds {
			byNode[pod.Spec.NodeName] = append(byNode[pod.Spec.NodeName], device.Held{Pod: pod, Allocation: allocation})
		}
	}
	return byNode, nil
}
