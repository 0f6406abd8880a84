package lownodeload

import (
	"context"
	"fmt"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	frameworktypes "sigs.k8s.io/descheduler/pkg/framework/types"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/lownodeload"
	"koordinator.sh/koord/decision/descheduling/nodeload"
)

// Sources are what the plugin reads beside nodes and pods, and where it keeps its history.
type Sources struct {
	// NodeMetrics are read with the Client of the handle where it is nil.
	NodeMetrics NodeMetrics
	// Store keeps histories. They are lost at the end of the process where it is nil.
	Store Store
	// Interval between passes; nil where it is not known.
	Interval func() time.Duration
	// Now is the clock; nil is the one of the machine.
	Now func() time.Time
}

// NodeMetrics are what the NodeMetrics of a cluster report.
type NodeMetrics interface {
	// Reports are those of all nodes that have one, by node. They must not be modified.
	Reports(ctx context.Context) (map[string]*nodeload.Report, error)
}

// Store keeps what the passes of a plugin instance remember. It outlives the process in one that is durable.
type Store interface {
	Load(ctx context.Context, instance string) (lownodeload.History, error)
	Save(ctx context.Context, instance string, history lownodeload.History) error
}

// ClientNodeMetrics lists NodeMetrics with a client that reads NodeMetrics. That of koord-descheduler does not: its cache has their reports,
// which package nodemetrics reads.
type ClientNodeMetrics struct{ client.Reader }

// Reports lists them.
func (c ClientNodeMetrics) Reports(ctx context.Context) (map[string]*nodeload.Report, error) {
	var list slov1alpha1.NodeMetricList
	if err := c.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list NodeMetrics: %w", err)
	}
	reports := make(map[string]*nodeload.Report, len(list.Items))
	for i := range list.Items {
		reports[list.Items[i].Name] = nodeload.Of(&list.Items[i])
	}
	return reports, nil
}

// MemoryStore keeps histories in memory. The zero value is ready for use.
type MemoryStore struct {
	mu        sync.Mutex
	histories map[string]lownodeload.History
}

var _ Store = (*MemoryStore)(nil)

// Load returns what was saved last, the zero History when nothing was.
func (s *MemoryStore) Load(_ context.Context, instance string) (lownodeload.History, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.histories[instance], nil
}

// Save keeps a history.
func (s *MemoryStore) Save(_ context.Context, instance string, history lownodeload.History) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.histories == nil {
		s.histories = map[string]lownodeload.History{}
	}
	s.histories[instance] = history
	return nil
}

// complete fills in what is left out.
func (s Sources) complete(handle frameworktypes.Handle) (Sources, error) {
	if s.NodeMetrics == nil {
		reading, ok := handle.(interface{ Client() client.Client })
		if !ok {
			return s, fmt.Errorf("the handle of %s has no client that reads NodeMetrics", lownodeload.PluginName)
		}
		s.NodeMetrics = ClientNodeMetrics{reading.Client()}
	}
	if s.Interval == nil {
		s.Interval = func() time.Duration { return 0 }
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	return s, nil
}
