package nodemetric

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"koordinator.sh/koord/api/configuration"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/controllers/sloconfig"
)

// fieldManager is the name under which the manager writes.
const fieldManager = "koord-manager"

// uncopied reads from the cache without copying; what is read must not be modified.
var uncopied = &client.GetOptions{UnsafeDisableDeepCopy: new(true)}

type reconciler struct {
	client client.Client
	config *sloconfig.Store
}

// Reconcile brings the NodeMetric of one node in line with the configuration, or deletes it with its node.
func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	err := r.reconcile(ctx, request.Name)
	count(err)
	return reconcile.Result{}, err
}

func (r *reconciler) reconcile(ctx context.Context, name string) error {
	node := &corev1.Node{}
	err := r.client.Get(ctx, types.NamespacedName{Name: name}, node, uncopied)
	if apierrors.IsNotFound(err) {
		return r.remove(ctx, name)
	}
	if err != nil {
		return fmt.Errorf("get node %q: %w", name, err)
	}
	config, loaded := r.config.Config()
	if !loaded {
		// Loading the configuration enqueues every node again.
		return nil
	}
	merged := config.Colocation(node)
	countParse(len(merged.Problems) == 0)
	want := Policy(merged.Strategy)
	metric := &slov1alpha1.NodeMetric{}
	err = r.client.Get(ctx, types.NamespacedName{Name: name}, metric, uncopied)
	if apierrors.IsNotFound(err) {
		return r.create(ctx, name, want)
	}
	if err != nil {
		return fmt.Errorf("get nodemetric %q: %w", name, err)
	}
	if metric.Spec.CollectPolicy != nil && equality.Semantic.DeepEqual(*metric.Spec.CollectPolicy, want) {
		return nil
	}
	return r.patch(ctx, metric, want)
}

// remove deletes the NodeMetric of a node that is gone.
func (r *reconciler) remove(ctx context.Context, name string) error {
	metric := &slov1alpha1.NodeMetric{}
	err := r.client.Get(ctx, types.NamespacedName{Name: name}, metric, uncopied)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("get nodemetric %q: %w", name, err)
	}
	gone := &slov1alpha1.NodeMetric{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := r.client.Delete(ctx, gone, client.Preconditions{UID: &metric.UID}); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete nodemetric %q: %w", name, err)
	}
	return nil
}

func (r *reconciler) create(ctx context.Context, name string, policy slov1alpha1.NodeMetricCollectPolicy) error {
	metric := &slov1alpha1.NodeMetric{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       slov1alpha1.NodeMetricSpec{CollectPolicy: &policy},
	}
	err := r.client.Create(ctx, metric, client.FieldOwner(fieldManager))
	// Already there means that the cache lags; its event brings the node back.
	if client.IgnoreAlreadyExists(err) != nil {
		return fmt.Errorf("create nodemetric %q: %w", name, err)
	}
	return nil
}

// patch writes the fields of the policy and no others.
func (r *reconciler) patch(ctx context.Context, metric *slov1alpha1.NodeMetric, policy slov1alpha1.NodeMetricCollectPolicy) error {
	body, err := json.Marshal(map[string]any{"spec": map[string]any{"metricCollectPolicy": policy}})
	if err != nil {
		return fmt.Errorf("encode policy of nodemetric %q: %w", metric.Name, err)
	}
	target := &slov1alpha1.NodeMetric{ObjectMeta: metav1.ObjectMeta{Name: metric.Name}}
	if err := r.client.Patch(ctx, target, client.RawPatch(types.MergePatchType, body), client.FieldOwner(fieldManager)); err != nil {
		return fmt.Errorf("patch nodemetric %q: %w", metric.Name, err)
	}
	return nil
}

// Policy is what a strategy tells the agent to measure.
func Policy(strategy configuration.ColocationStrategy) slov1alpha1.NodeMetricCollectPolicy {
	return slov1alpha1.NodeMetricCollectPolicy{
		AggregateDurationSeconds: strategy.MetricAggregateDurationSeconds,
		ReportIntervalSeconds:    strategy.MetricReportIntervalSeconds,
		NodeAggregatePolicy:      strategy.MetricAggregatePolicy,
		NodeMemoryCollectPolicy:  strategy.MetricMemoryCollectPolicy,
	}
}
