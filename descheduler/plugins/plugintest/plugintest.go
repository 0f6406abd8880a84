package plugintest

import (
	"context"
	"errors"
	"slices"

	promapi "github.com/prometheus/client_golang/api"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/descheduler/pkg/descheduler/evictions"
	"sigs.k8s.io/descheduler/pkg/descheduler/metricscollector"
	podutil "sigs.k8s.io/descheduler/pkg/descheduler/pod"
	frameworktypes "sigs.k8s.io/descheduler/pkg/framework/types"
)

// VerdictKey is an annotation of test pods that says what the evictor does with them: one of the verdicts, or none.
const VerdictKey = "test/verdict"

// The verdicts.
const (
	// Filtered pods do not pass Filter, and Late ones do not pass PreEvictionFilter.
	Filtered = "filtered"
	Late     = "late"
	// Failing pods cannot be evicted, and Last ones meet the limit of their node.
	Failing = "failing"
	Last    = "last"
)

// ErrRefused is the error of failing evictions.
var ErrRefused = errors.New("refused")

// Evictor notes the pods that it is asked to evict, and refuses some.
type Evictor struct {
	// Total is how many pods it evicts, negative for any number.
	Total   int
	Evicted []string
	Reasons []string
}

var _ frameworktypes.Evictor = (*Evictor)(nil)

// Filter refuses Filtered pods.
func (e *Evictor) Filter(pod *corev1.Pod) bool { return pod.Annotations[VerdictKey] != Filtered }

// PreEvictionFilter refuses Late pods.
func (e *Evictor) PreEvictionFilter(pod *corev1.Pod) bool {
	return pod.Annotations[VerdictKey] != Late
}

// Evict notes the pod and the reason.
func (e *Evictor) Evict(_ context.Context, pod *corev1.Pod, options evictions.EvictOptions) error {
	switch {
	case e.Total >= 0 && len(e.Evicted) >= e.Total:
		return evictions.NewEvictionTotalLimitError()
	case pod.Annotations[VerdictKey] == Failing:
		return ErrRefused
	case pod.Annotations[VerdictKey] == Last:
		return evictions.NewEvictionNodeLimitError(pod.Spec.NodeName)
	}
	e.Evicted = append(e.Evicted, pod.Name)
	e.Reasons = append(e.Reasons, options.Reason)
	return nil
}

// Handle serves pods from memory.
type Handle struct {
	Client kubernetes.Interface
	Evicts *Evictor
	Pods   map[string][]*corev1.Pod
	// Dry is what DryRun returns.
	Dry bool
}

var _ frameworktypes.Handle = (*Handle)(nil)

// NewHandle serves the pods of nodes by name, with an evictor without a limit.
func NewHandle(client kubernetes.Interface, pods map[string][]*corev1.Pod) *Handle {
	return &Handle{Client: client, Evicts: &Evictor{Total: -1}, Pods: pods}
}

// DryRun is true when nothing may be written.
func (h *Handle) DryRun() bool { return h.Dry }

// ClientSet is the client of the test.
func (h *Handle) ClientSet() kubernetes.Interface { return h.Client }

// PrometheusClient is nil.
func (h *Handle) PrometheusClient() promapi.Client { return nil }

// Evictor is that of the test.
func (h *Handle) Evictor() frameworktypes.Evictor { return h.Evicts }

// SharedInformerFactory is nil.
func (h *Handle) SharedInformerFactory() informers.SharedInformerFactory { return nil }

// MetricsCollector is nil.
func (h *Handle) MetricsCollector() *metricscollector.MetricsCollector { return nil }

// PluginInstanceID is the same for all plugins.
func (h *Handle) PluginInstanceID() string { return "test" }

// GetPodsAssignedToNodeFunc lists the pods of a node.
func (h *Handle) GetPodsAssignedToNodeFunc() podutil.GetPodsAssignedToNodeFunc {
	return func(node string, filter podutil.FilterFunc) ([]*corev1.Pod, error) {
		pods := slices.Clone(h.Pods[node])
		return slices.DeleteFunc(pods, func(pod *corev1.Pod) bool { return filter != nil && !filter(pod) }), nil
	}
}
