package queryhint

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/amount"
	"koordinator.sh/koord/decision/noderesource/outlook"
	"koordinator.sh/koord/decision/scheduling/queryhint"
)

const (
	// interval is how often what is known of the nodes is read anew.
	interval = 15 * time.Second
	// idle is how long after the last question it is no longer read.
	idle = time.Hour
)

// Outlooks says what nodes will offer of resources.
type Outlooks interface {
	ExplainNode(ctx context.Context, spec diagnosticsv1alpha1.NodeExplanationSpec) (diagnosticsv1alpha1.NodeExplanationStatus, error)
}

// measured is a node with its memory.
type measured struct {
	node   *corev1.Node
	memory queryhint.Memory
}

// NodeMemory is what is known of the memory of all nodes, read every 15 s for as long as somebody asks, so that no pod waits for the
// predictions of thousands of nodes. It is safe for concurrent use.
type NodeMemory struct {
	reader   client.Reader
	outlooks Outlooks
	clock    clock.Clock

	mu sync.Mutex
	// nodes of the last reading, of which the slice is never modified; read is when that was, and asked when they were asked for.
	nodes       []measured
	read, asked time.Time
}

// NewNodeMemory returns the memory of the nodes in a cache, not read yet. Nil outlooks predict nothing.
func NewNodeMemory(reader client.Reader, outlooks Outlooks, clock clock.Clock) *NodeMemory {
	return &NodeMemory{reader: reader, outlooks: outlooks, clock: clock}
}

// NeedLeaderElection is false: every replica serves webhooks.
func (m *NodeMemory) NeedLeaderElection() bool { return false }

// Start reads until ctx ends.
func (m *NodeMemory) Start(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-m.clock.After(interval):
		}
		if !m.wanted() {
			continue
		}
		if err := m.refresh(ctx, m.outlooks); err != nil && ctx.Err() == nil {
			klog.FromContext(ctx).Error(err, "Failed to read the memory of nodes for scheduling hints; the last reading is used while its measurements are recent")
		}
	}
}

func (m *NodeMemory) wanted() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !m.asked.IsZero() && m.clock.Since(m.asked) < idle
}

// all are the nodes of the last reading. Where that is long ago, they are read anew, without predictions.
func (m *NodeMemory) all(ctx context.Context) ([]measured, error) {
	m.mu.Lock()
	now := m.clock.Now()
	m.asked = now
	nodes, current := m.nodes, !m.read.IsZero() && now.Sub(m.read) < 4*interval
	m.mu.Unlock()
	if current {
		return nodes, nil
	}
	if err := m.refresh(ctx, nil); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.nodes, nil
}

// refresh reads the nodes and their measurements from the cache.
func (m *NodeMemory) refresh(ctx context.Context, outlooks Outlooks) error {
	var nodes corev1.NodeList
	if err := m.reader.List(ctx, &nodes, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list nodes: %w", err)
	}
	var metrics slov1alpha1.NodeMetricList
	if err := m.reader.List(ctx, &metrics, client.UnsafeDisableDeepCopy); err != nil && !meta.IsNoMatchError(err) {
		return fmt.Errorf("list nodemetrics: %w", err)
	}
	byName := make(map[string]*slov1alpha1.NodeMetric, len(metrics.Items))
	for i := range metrics.Items {
		byName[metrics.Items[i].Name] = &metrics.Items[i]
	}
	out := make([]measured, 0, len(nodes.Items))
	for i := range nodes.Items {
		node := &nodes.Items[i]
		memory := queryhint.MemoryOf(node, byName[node.Name])
		if outlooks != nil && !memory.Measured.IsZero() {
			var err error
			if memory.Growth, err = growth(ctx, outlooks, node.Name); err != nil {
				return err
			}
		}
		out = append(out, measured{node, memory})
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.nodes, m.read = out, m.clock.Now()
	return nil
}

// growth is by how much more memory pods above batch are predicted to use of a node: what it will offer less of batch-memory. Where
// predictions do not reach far enough, the last one counts; nil where nothing predicts, or the node is gone.
func growth(ctx context.Context, outlooks Outlooks, node string) (*int64, error) {
	answer, err := outlooks.ExplainNode(ctx, diagnosticsv1alpha1.NodeExplanationSpec{
		NodeName: node, Resources: []string{amount.ShortName(extension.BatchMemory)}, Outlook: true,
	})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("predict the memory of node %q: %w", node, err)
	}
	for i := range answer.Outlook {
		offer := &answer.Outlook[i]
		if offer.Resource != string(extension.BatchMemory) || len(offer.Steps) == 0 {
			continue
		}
		least, reached := outlook.LeastOffered(offer, int64(queryhint.Horizon/time.Second))
		if !reached {
			least = offer.Steps[len(offer.Steps)-1].Offered
		}
		return new(max(offer.Offered-least, 0)), nil
	}
	return nil, nil
}
