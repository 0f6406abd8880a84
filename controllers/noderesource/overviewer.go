package noderesource

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"koordinator.sh/koord/api/configuration"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/controllers/sloconfig"
	"koordinator.sh/koord/decision/core/unknown"
	"koordinator.sh/koord/decision/noderesource/overcommit"
	"koordinator.sh/koord/decision/noderesource/overview"
	"koordinator.sh/koord/decision/scheduling/loadaware"
	"koordinator.sh/koord/decision/scheduling/schedulerconfig"
)

// Overviewer lists nodes as co-location sees them, out of the cache of the controller. What thresholds load is judged by it reads from
// the scheduler's ConfigMap each time. It is safe for concurrent use, and answers on every replica.
type Overviewer struct {
	// Reader of the cache, which has PodNodeIndex and NodeMetrics without percentiles.
	Reader client.Reader
	// Informers of the same cache. The pods are read from their store: a list of the reader would copy every one of them.
	Informers cache.Informers
	// Settings reads ConfigMaps in Namespace.
	Settings  client.Reader
	Namespace string
	Config    *sloconfig.Store
	Clock     clock.PassiveClock

	pods podRequests
}

// NodeOverviews lists the nodes that the selector matches, or the one with the name unless that is empty. It is ServiceUnavailable
// until the configuration has been read.
func (o *Overviewer) NodeOverviews(ctx context.Context, name string, matching labels.Selector) (*diagnosticsv1alpha1.NodeOverviewList, error) {
	config, loaded := o.Config.Config()
	if !loaded {
		return nil, apierrors.NewServiceUnavailable("koord-manager has not read its configuration yet")
	}
	in := overview.NodesInput{Config: &config, NoPercentiles: true, Unknown: unknown.Inputs{}}
	if err := o.readNodes(ctx, name, matching, &in); err != nil {
		return nil, err
	}
	args, err := o.loadArgs(ctx)
	if err != nil {
		in.Unknown[unknown.SchedulerConfiguration] = unknown.Cause{Reason: diagnosticsv1alpha1.UnknownFailed, Message: err.Error()}
	}
	in.LoadArgs, in.Now = args, o.Clock.Now()
	return overview.Nodes(in), nil
}

// readNodes reads nodes, their metrics and what their pods request.
func (o *Overviewer) readNodes(ctx context.Context, name string, matching labels.Selector, in *overview.NodesInput) error {
	if name != "" {
		one, err := read(ctx, o.Reader, name)
		if err != nil {
			return err
		}
		in.Nodes = []corev1.Node{*one.Node}
		if one.Metric != nil {
			in.Metrics = []slov1alpha1.NodeMetric{*one.Metric}
		}
		for _, pod := range one.Pods {
			in.Pods = append(in.Pods, overcommit.RequestsOf(pod))
		}
		return nil
	}
	var (
		nodes   corev1.NodeList
		metrics slov1alpha1.NodeMetricList
	)
	if err := o.Reader.List(ctx, &nodes, client.UnsafeDisableDeepCopy, client.MatchingLabelsSelector{Selector: matching}); err != nil {
		return fmt.Errorf("list nodes: %w", err)
	}
	if err := o.Reader.List(ctx, &metrics, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list nodemetrics: %w", err)
	}
	in.Nodes, in.Metrics = nodes.Items, metrics.Items
	var err error
	in.Pods, err = o.requests(ctx)
	return err
}

// requests are what all pods request.
func (o *Overviewer) requests(ctx context.Context) ([]overcommit.PodRequests, error) {
	informer, err := o.Informers.GetInformer(ctx, &corev1.Pod{})
	if err != nil {
		return nil, fmt.Errorf("list pods: %w", err)
	}
	stored, ok := informer.(interface{ GetStore() toolscache.Store })
	if !ok {
		return nil, fmt.Errorf("list pods: %T has no store", informer)
	}
	return o.pods.of(stored.GetStore().List()), nil
}

// loadArgs are the arguments of LoadAwareScheduling; nil, which stands for the defaults, without a ConfigMap.
func (o *Overviewer) loadArgs(ctx context.Context) (*loadaware.Args, error) {
	object := &corev1.ConfigMap{}
	err := o.Settings.Get(ctx, types.NamespacedName{Namespace: o.Namespace, Name: configuration.SchedulerConfigMapName}, object)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	found, err := schedulerconfig.Read(object.Data)
	return found.LoadAware, err
}
