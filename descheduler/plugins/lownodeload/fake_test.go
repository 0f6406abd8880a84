package lownodeload

import (
	"context"
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

// verdictKey is an annotation of test pods that says what the evictor does with them.
const verdictKey = "test/verdict"

// evictor notes the pods that it is asked to evict, and refuses some.
type evictor struct {
	// total is how many pods it evicts, negative for any number.
	total   int
	evicted []string
	reasons []string
}

var _ frameworktypes.Evictor = (*evictor)(nil)

func (e *evictor) Filter(pod *corev1.Pod) bool { return pod.Annotations[verdictKey] != "filtered" }

func (e *evictor) PreEvictionFilter(pod *corev1.Pod) bool {
	return pod.Annotations[verdictKey] != "late"
}

func (e *evictor) Evict(_ context.Context, pod *corev1.Pod, options evictions.EvictOptions) error {
	switch {
	case e.total >= 0 && len(e.evicted) >= e.total:
		return evictions.NewEvictionTotalLimitError()
	case pod.Annotations[verdictKey] == "failing":
		return errRefused
	case pod.Annotations[verdictKey] == "last":
		return evictions.NewEvictionNodeLimitError(pod.Spec.NodeName)
	}
	e.evicted = append(e.evicted, pod.Name)
	e.reasons = append(e.reasons, options.Reason)
	return nil
}

// handle serves pods from memory.
type handle struct {
	evictor *evictor
	pods    map[string][]*corev1.Pod
}

var _ frameworktypes.Handle = (*handle)(nil)

func (h *handle) ClientSet() kubernetes.Interface                        { return nil }
func (h *handle) PrometheusClient() promapi.Client                       { return nil }
func (h *handle) Evictor() frameworktypes.Evictor                        { return h.evictor }
func (h *handle) SharedInformerFactory() informers.SharedInformerFactory { return nil }
func (h *handle) MetricsCollector() *metricscollector.MetricsCollector   { return nil }
func (h *handle) PluginInstanceID() string                               { return "test" }
func (h *handle) GetPodsAssignedToNodeFunc() podutil.GetPodsAssignedToNodeFunc {
	return func(node string, filter podutil.FilterFunc) ([]*corev1.Pod, error) {
		pods := slices.Clone(h.pods[node])
		return slices.DeleteFunc(pods, func(pod *corev1.Pod) bool { return filter != nil && !filter(pod) }), nil
	}
}
