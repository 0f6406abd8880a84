package elasticworkers

import (
	"context"
	"fmt"
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/amount"
	"koordinator.sh/koord/decision/noderesource/workers"
)

// snapshot is what one pass knows of the cluster.
type snapshot struct {
	cluster workers.Cluster
	// objects are all ElasticWorkers, the oldest first.
	objects []schedulingv1alpha1.ElasticWorkers
	// autoscalers and budgets by namespace, of the namespaces with ElasticWorkers.
	autoscalers map[string][]autoscalingv2.HorizontalPodAutoscaler
	budgets     map[string][]policyv1.PodDisruptionBudget
	// used is the CPU that pods use, in milli-cores.
	used map[types.NamespacedName]int64
}

// snapshot reads the cluster. Pods that have no node are not in the cache; the API server answers from what it watches.
func (r *reconciler) snapshot(ctx context.Context, objects []schedulingv1alpha1.ElasticWorkers) (*snapshot, error) {
	s := &snapshot{
		objects: objects, used: map[types.NamespacedName]int64{},
		autoscalers: map[string][]autoscalingv2.HorizontalPodAutoscaler{}, budgets: map[string][]policyv1.PodDisruptionBudget{},
	}
	var (
		nodes          corev1.NodeList
		bound, pending corev1.PodList
		reservations   schedulingv1alpha1.ReservationList
		quotas         schedulingsigsv1alpha1.ElasticQuotaList
		metrics        slov1alpha1.NodeMetricList
	)
	for _, each := range []struct {
		what   string
		reader client.Reader
		list   client.ObjectList
		with   []client.ListOption
	}{
		{"nodes", r.client, &nodes, []client.ListOption{client.UnsafeDisableDeepCopy}},
		{"pods", r.client, &bound, []client.ListOption{client.UnsafeDisableDeepCopy}},
		{"pods without a node", r.live, &pending, []client.ListOption{watched(), client.MatchingFields{"spec.nodeName": "", "status.phase": string(corev1.PodPending)}}},
		{"reservations", r.live, &reservations, []client.ListOption{watched()}},
		{"elasticquotas", r.client, &quotas, []client.ListOption{client.UnsafeDisableDeepCopy}},
		{"nodemetrics", r.client, &metrics, []client.ListOption{client.UnsafeDisableDeepCopy}},
	} {
		if err := each.reader.List(ctx, each.list, each.with...); err != nil && !unserved(err) {
			return nil, fmt.Errorf("list %s: %w", each.what, err)
		}
	}
	s.cluster = workers.Cluster{Nodes: nodes.Items, Bound: bound.Items, Pending: pending.Items, Reservations: reservations.Items, Quotas: quotas.Items}
	s.measure(metrics.Items)
	if err := r.readNamespaces(ctx, s); err != nil {
		return nil, err
	}
	return s, r.predict(ctx, s)
}

// watched has the API server answer from what it watches. Each list needs options of its own, in which selectors are written down.
func watched() client.ListOption {
	return &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: "0"}}
}

// lost is true for a node that is not ready, or gone.
func (s *snapshot) lost(node string) bool {
	for i := range s.cluster.Nodes {
		if s.cluster.Nodes[i].Name == node {
			return readiness(&s.cluster.Nodes[i]) != corev1.ConditionTrue
		}
	}
	return true
}

// unserved is true for a kind that the cluster does not serve.
func unserved(err error) bool { return meta.IsNoMatchError(err) || apierrors.IsNotFound(err) }

// measure notes what pods use.
func (s *snapshot) measure(metrics []slov1alpha1.NodeMetric) {
	for i := range metrics {
		for _, pod := range metrics[i].Status.PodsMetric {
			if pod == nil {
				continue
			}
			if cpu, measured := pod.PodUsage.ResourceList[corev1.ResourceCPU]; measured {
				s.used[types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}] = cpu.MilliValue()
			}
		}
	}
}

// readNamespaces reads what is needed of each namespace with ElasticWorkers.
func (r *reconciler) readNamespaces(ctx context.Context, s *snapshot) error {
	for i := range s.objects {
		namespace := s.objects[i].Namespace
		if _, known := s.budgets[namespace]; known {
			continue
		}
		var autoscalers autoscalingv2.HorizontalPodAutoscalerList
		if err := r.live.List(ctx, &autoscalers, client.InNamespace(namespace)); err != nil {
			return fmt.Errorf("list horizontalpodautoscalers in namespace %q: %w", namespace, err)
		}
		var budgets policyv1.PodDisruptionBudgetList
		if err := r.client.List(ctx, &budgets, client.InNamespace(namespace)); err != nil {
			return fmt.Errorf("list poddisruptionbudgets in namespace %q: %w", namespace, err)
		}
		s.autoscalers[namespace], s.budgets[namespace] = autoscalers.Items, budgets.Items
	}
	return nil
}

// overcommitted are the resources whose offers are predicted.
var overcommitted = []corev1.ResourceName{extension.BatchCPU, extension.BatchMemory, extension.MidCPU, extension.MidMemory}

// predict asks what nodes with batch or mid resources will offer, where any of the engines looks ahead. A node that is gone meanwhile is not
// predicted.
func (r *reconciler) predict(ctx context.Context, s *snapshot) error {
	if !slices.ContainsFunc(s.objects, func(o schedulingv1alpha1.ElasticWorkers) bool { return specOf(&o.Spec).Horizon > 0 }) {
		return nil
	}
	s.cluster.Outlooks = map[string][]diagnosticsv1alpha1.OfferOutlook{}
	var short []string
	for _, name := range overcommitted {
		short = append(short, amount.ShortName(name))
	}
	for i := range s.cluster.Nodes {
		name := s.cluster.Nodes[i].Name
		if !offers(&s.cluster.Nodes[i]) {
			continue
		}
		answer, err := r.nodes.ExplainNode(ctx, diagnosticsv1alpha1.NodeExplanationSpec{NodeName: name, Resources: short, Outlook: true})
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			return fmt.Errorf("predict what node %q offers: %w", name, err)
		default:
			s.cluster.Outlooks[name] = answer.Outlook
		}
	}
	return nil
}

// offers is true for a node with batch or mid resources.
func offers(node *corev1.Node) bool {
	return slices.ContainsFunc(overcommitted, func(name corev1.ResourceName) bool {
		quantity := node.Status.Allocatable[name]
		return quantity.Sign() > 0
	})
}
