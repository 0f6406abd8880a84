package framework

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/klog/v2"
	"sigs.k8s.io/descheduler/pkg/api"
	"sigs.k8s.io/descheduler/pkg/descheduler/metricscollector"
	"sigs.k8s.io/descheduler/pkg/framework/plugins/nodeutilization"

	"koordinator.sh/koord/descheduler/configuration"
)

// usageInterval is how often the usage of nodes is read. The collector of sigs.k8s.io/descheduler smooths it over about ten readings.
const usageInterval = 5 * time.Second

// metricsGroup and version of the API of metrics-server.
const (
	metricsGroupVersion = "metrics.k8s.io/v1beta1"
	metricsResource     = "nodes"
)

// usage reads the usage of nodes from metrics.k8s.io, for the plugins that are configured to use it. It costs a request per node, and so
// it is not done for nothing.
type usage struct {
	descheduler *Descheduler

	mu        sync.Mutex
	collector *metricscollector.MetricsCollector
	nodes     string
}

// usesMetrics is true when a plugin needs metrics.k8s.io.
func usesMetrics(c *configuration.Configuration) bool {
	for i := range c.Profiles {
		for _, args := range c.Profiles[i].Args {
			low, ok := args.(*nodeutilization.LowNodeUtilizationArgs)
			if !ok || low.MetricsUtilization == nil {
				continue
			}
			if low.MetricsUtilization.MetricsServer || low.MetricsUtilization.Source == api.KubernetesMetrics {
				return true
			}
		}
	}
	return false
}

// collected is the collector, nil when it is not needed or metrics.k8s.io is not served.
func (u *usage) collected() *metricscollector.MetricsCollector {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.collector
}

// prepare makes the collector when it is needed for the first time, or for other nodes, and reads the usage once.
func (u *usage) prepare(ctx context.Context, needed bool, nodes labels.Selector) {
	u.mu.Lock()
	defer u.mu.Unlock()
	client := u.descheduler.config.Metrics
	if !needed || client == nil {
		u.collector = nil
		return
	}
	if u.collector != nil && u.nodes == nodes.String() {
		return
	}
	served, err := serves(client.Discovery(), metricsGroupVersion, metricsResource)
	if err != nil || !served {
		klog.FromContext(ctx).Info("the cluster does not serve "+metricsGroupVersion+"; plugins that need it fail", "err", err)
		u.collector = nil
		return
	}
	u.collector = metricscollector.NewMetricsCollector(u.descheduler.config.Informers.Core().V1().Nodes().Lister(), client, nodes)
	u.nodes = nodes.String()
	collect(ctx, u.collector)
}

// run reads the usage until the context ends.
func (u *usage) run(ctx context.Context) {
	ticker := time.NewTicker(usageInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if collector := u.collected(); collector != nil {
				collect(ctx, collector)
			}
		}
	}
}

func collect(ctx context.Context, collector *metricscollector.MetricsCollector) {
	if err := collector.Collect(ctx); err != nil {
		klog.FromContext(ctx).Error(err, "cannot read the usage of nodes")
	}
}
