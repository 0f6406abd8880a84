package main

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/bench/controlplane"
	"koordinator.sh/koord/bridge/yarn"
	"koordinator.sh/koord/bridge/yarn/resourcemanagersim"
)

// cluster is nodes of 32 cores and 128 GiB, each with a NodeManager.
type cluster struct {
	*controlplane.ControlPlane
	rm     *resourcemanagersim.ResourceManager
	chosen settings
}

// patience bounds waits for what has to come.
const patience = 5 * time.Minute

// The use of services in milli-cores before and after they take batch back.
const (
	idleMilliCPU = 4000
	busyMilliCPU = 12000
	memoryMiB    = 16 << 10
)

func nodeName(i int) string { return fmt.Sprintf("node-%04d", i) }

func nodeID(i int) yarn.NodeID { return yarn.NodeID{Host: nodeName(i), Port: 8041} }

func amounts(cpu, memory int) corev1.ResourceList {
	return controlplane.Quantities(map[corev1.ResourceName]string{"cpu": fmt.Sprintf("%dm", cpu), "memory": fmt.Sprintf("%dMi", memory)})
}

func (c *cluster) populate(ctx context.Context) error {
	return controlplane.SideBySide(ctx, c.chosen.nodes, func(ctx context.Context, i int) error {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName(i), Annotations: map[string]string{extension.AnnotationYARNNodeID: nodeID(i).String()}}}
		node.Status.Capacity = amounts(32000, 128<<10)
		node.Status.Allocatable = node.Status.Capacity
		node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "Bench"}}
		if err := c.CreateNode(ctx, node); err != nil {
			return err
		}
		c.rm.SetNode(yarn.Node{ID: nodeID(i), State: yarn.StateRunning, Capability: yarn.Resource{VCores: 1, MiB: 1024}})
		metric := &slov1alpha1.NodeMetric{ObjectMeta: metav1.ObjectMeta{Name: node.Name}, Status: status(idleMilliCPU)}
		return c.CreateNodeMetric(ctx, metric)
	})
}

// status reports a use of services that no pod has.
func status(milliCPU int) slov1alpha1.NodeMetricStatus {
	return slov1alpha1.NodeMetricStatus{
		UpdateTime: &metav1.Time{Time: time.Now()},
		NodeMetric: &slov1alpha1.NodeMetricInfo{
			NodeUsage:   slov1alpha1.ResourceMap{ResourceList: amounts(milliCPU, memoryMiB)},
			SystemUsage: slov1alpha1.ResourceMap{ResourceList: amounts(milliCPU, memoryMiB)},
		},
	}
}

// setUse reports another use of a node.
func (c *cluster) setUse(ctx context.Context, i, milliCPU int) error {
	body, err := json.Marshal(map[string]any{"status": status(milliCPU)})
	if err != nil {
		return err
	}
	_, err = c.Dynamic.Resource(slov1alpha1.GroupVersion.WithResource("nodemetrics")).
		Patch(ctx, nodeName(i), types.MergePatchType, body, metav1.PatchOptions{}, "status")
	return err
}

// awaitShared waits until YARN has a share of every node.
func (c *cluster) awaitShared(ctx context.Context) error {
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		for i := range c.chosen.nodes {
			if c.rm.Node(nodeID(i).String()).Capability.VCores <= 1 {
				return false, nil
			}
		}
		return true, nil
	})
	if err != nil {
		return fmt.Errorf("wait until YARN has a share of all nodes: %w", err)
	}
	return nil
}

// change is what services do.
type change int

const (
	takenBack change = iota
	returned
)

// String says it for the report.
func (c change) String() string {
	if c == takenBack {
		return "services take 8 of 15 cores back"
	}
	return "services return 8 cores"
}

// changes changes one node after the other, and returns how long YARN took to follow each.
func (c *cluster) changes(ctx context.Context, kind change) ([]time.Duration, error) {
	offers := newOffers()
	watching, stop := context.WithCancel(ctx)
	defer stop()
	if err := offers.follow(watching, c); err != nil {
		return nil, err
	}
	use := busyMilliCPU
	if kind == returned {
		use = idleMilliCPU
	}
	from := len(c.rm.Changes())
	ticker := time.NewTicker(c.chosen.apart)
	defer ticker.Stop()
	changed := map[string]bool{}
	for n := range c.chosen.changes {
		i := n * 7919 % c.chosen.nodes
		changed[nodeID(i).String()] = true
		if err := c.setUse(ctx, i, use); err != nil {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-ticker.C:
		}
	}
	var took []time.Duration
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		took = offers.followed(c.rm.Changes()[from:], changed)
		return len(took) == len(changed), nil
	})
	if err != nil {
		return nil, fmt.Errorf("YARN followed %d of %d nodes: %w", len(took), len(changed), err)
	}
	return took, nil
}

// offers is when the origin of each node's batch changed for the first time, as a watch tells it.
type offers struct {
	mu sync.Mutex
	at map[string]time.Time
}

func newOffers() *offers { return &offers{at: map[string]time.Time{}} }

func (o *offers) follow(ctx context.Context, c *cluster) error {
	list, err := c.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	before := map[string]string{}
	for i := range list.Items {
		before[list.Items[i].Name] = list.Items[i].Annotations[extension.AnnotationNodeOriginExtendedAllocatable]
	}
	watcher, err := c.Client.CoreV1().Nodes().Watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	if err != nil {
		return err
	}
	go func() { // ends with ctx, which ends the watch
		for event := range watcher.ResultChan() {
			node, is := event.Object.(*corev1.Node)
			if !is || node.Annotations[extension.AnnotationNodeOriginExtendedAllocatable] == before[node.Name] {
				continue
			}
			o.mu.Lock()
			if key := node.Name + ":8041"; o.at[key].IsZero() {
				o.at[key] = time.Now()
			}
			o.mu.Unlock()
		}
	}()
	return nil
}

// followed is how long after its change each of the changed nodes had another capacity for the first time.
func (o *offers) followed(received []resourcemanagersim.Received, changed map[string]bool) (took []time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	seen := map[string]bool{}
	for _, r := range received {
		key := r.Node.String()
		if at := o.at[key]; changed[key] && !seen[key] && !at.IsZero() {
			seen[key] = true
			took = append(took, max(r.At.Sub(at), 0))
		}
	}
	return took
}
