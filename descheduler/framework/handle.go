package framework

import (
	"context"

	promapi "github.com/prometheus/client_golang/api"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/descheduler/pkg/descheduler/evictions"
	"sigs.k8s.io/descheduler/pkg/descheduler/metricscollector"
	podutil "sigs.k8s.io/descheduler/pkg/descheduler/pod"
	frameworktypes "sigs.k8s.io/descheduler/pkg/framework/types"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// Handle is what plugins get. Those of sigs.k8s.io/descheduler know its first part, those of the project assert the whole.
type Handle interface {
	frameworktypes.Handle
	// Client reads and writes the kinds of Koordinator.
	Client() client.Client
	// DryRun is true when nothing may be written.
	DryRun() bool
}

// Evictor is the Evictor of a Handle. Those plugins of the project that decide more than which pod leaves assert it.
type Evictor interface {
	frameworktypes.Evictor
	// Refusing is Filter with the name of the filter that refuses the pod; empty when it may be evicted.
	Refusing(pod *corev1.Pod) string
	// EvictBy evicts like Evict, by a job that edit changes before it is created. Its name and pod must stay.
	EvictBy(ctx context.Context, pod *corev1.Pod, options evictions.EvictOptions, edit func(*schedulingv1alpha1.PodMigrationJob)) error
}

// Migrator is a plugin at the extension point evict that says what the jobs of its profile are like. Without one, jobs reserve first.
type Migrator interface {
	frameworktypes.EvictorPlugin
	// JobSpec is the specification of a job for the pod. The reference to the pod is filled in.
	JobSpec(pod *corev1.Pod) schedulingv1alpha1.PodMigrationJobSpec
}

// handle implements Handle for one plugin of one profile.
type handle struct {
	descheduler *Descheduler
	evictor     *evictor
	id          string
	dryRun      bool
}

var _ Handle = (*handle)(nil)

// ClientSet is the client of Kubernetes.
func (h *handle) ClientSet() kubernetes.Interface { return h.descheduler.config.Client }

// PrometheusClient is nil when none is configured.
func (h *handle) PrometheusClient() promapi.Client {
	if h.descheduler.config.Prometheus == nil {
		return nil
	}
	return h.descheduler.config.Prometheus()
}

// Evictor asks for evictions in the name of the plugin.
func (h *handle) Evictor() frameworktypes.Evictor { return h.evictor }

// GetPodsAssignedToNodeFunc lists the pods of a node without those that have a migration job: they are as good as gone, and a plugin that
// counted them would evict more pods in each pass until they are.
func (h *handle) GetPodsAssignedToNodeFunc() podutil.GetPodsAssignedToNodeFunc {
	return h.descheduler.podsOnNode
}

// SharedInformerFactory has the informers of the descheduler.
func (h *handle) SharedInformerFactory() informers.SharedInformerFactory {
	return h.descheduler.config.Informers
}

// MetricsCollector is nil unless a plugin needs metrics.k8s.io and the cluster serves it.
func (h *handle) MetricsCollector() *metricscollector.MetricsCollector {
	return h.descheduler.usage.collected()
}

// PluginInstanceID is unique among the plugins of all profiles, and among different arguments: plugins name indices of informers by it,
// which outlive a change of the configuration.
func (h *handle) PluginInstanceID() string { return h.id }

// Client reads and writes the kinds of Koordinator.
func (h *handle) Client() client.Client { return h.descheduler.config.Jobs }

// DryRun is true when nothing may be written.
func (h *handle) DryRun() bool { return h.dryRun }
