package live

import (
	"context"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/decision/descheduling/rebalance"
	"koordinator.sh/koord/source/objects"
)

// controllerDrop is a controller without what its pods are made from.
var controllerDrop = droppedKeys{"metadata": keys("managedFields", "annotations"), "spec": keys("template", "volumeClaimTemplates")}

// frozenWorkloads finds the workloads that the planner leaves alone, and in which namespaces they are.
func (c *clients) frozenWorkloads(ctx context.Context, gaps *gaps) (frozen map[types.UID]rebalance.Freeze, namespaces []string, err error) {
	deployments, noDeployments := listOf[appsv1.Deployment](ctx, c, appsv1.SchemeGroupVersion, "deployments", "", controllerDrop)
	sets, noSets := listOf[appsv1.StatefulSet](ctx, c, appsv1.SchemeGroupVersion, "statefulsets", "", controllerDrop)
	autoscalers, noAutoscalers := listOf[autoscalingv2.HorizontalPodAutoscaler](ctx, c, autoscalingv2.SchemeGroupVersion, "horizontalpodautoscalers", "", managedFieldsDrop)
	for _, missing := range []struct {
		err         error
		consequence string
	}{
		{noDeployments, "which Deployments are being rolled out or scaled down is unknown"},
		{noSets, "which StatefulSets are being rolled out or scaled down is unknown"},
		{noAutoscalers, "which workloads HorizontalPodAutoscalers scale down is unknown"},
	} {
		if err := gaps.lacks(missing.err, missing.consequence); err != nil {
			return nil, nil, err
		}
	}
	frozen = objects.FrozenWorkloads(deployments, sets, autoscalers)
	for i := range deployments {
		if namespace := deployments[i].Namespace; frozen[deployments[i].UID] != "" && !slices.Contains(namespaces, namespace) {
			namespaces = append(namespaces, namespace)
		}
	}
	return frozen, namespaces, nil
}
