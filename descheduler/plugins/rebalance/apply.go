package rebalance

import (
	"context"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"sigs.k8s.io/descheduler/pkg/descheduler/evictions"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/rebalance"
)

// apply carries out the steps of a plan: it evicts the pods that move, resizes jobs, and marks the pods that a scale-down should remove.
// Best-effort pods are held back by the agent, which needs no request.
func (p *Plugin) apply(ctx context.Context, v *view, plan rebalance.Plan) error {
	logger := klog.FromContext(ctx).WithValues("plugin", rebalance.PluginName)
	for _, step := range plan.Steps {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		switch step.Remedy {
		case rebalance.HoldBack:
			logger.V(1).Info("Best-effort pods are held back by the agent, what they use moves no pod", "node", v.in.Nodes[step.Node].Name)
		case rebalance.Migrate:
			p.evict(ctx, v, step)
		case rebalance.LowerCPULimit, rebalance.RestoreCPULimit:
			p.resize(ctx, v, step)
		case rebalance.DeletionCost:
			if err := p.mark(ctx, v.pods[step.Pod], step.DeletionCost); err != nil {
				logger.Error(err, "Cannot mark a pod for the scale-down", "pod", klog.KObj(v.pods[step.Pod]))
			}
		}
	}
	return nil
}

// evictorTo evicts by jobs that can be changed before they are created.
type evictorTo interface {
	EvictBy(ctx context.Context, pod *corev1.Pod, options evictions.EvictOptions, edit func(*schedulingv1alpha1.PodMigrationJob)) error
}

func (p *Plugin) evict(ctx context.Context, v *view, step rebalance.Step) {
	pod, source, target := v.pods[step.Pod], v.in.Nodes[step.Node].Name, v.in.Nodes[step.Target].Name
	logger := klog.FromContext(ctx).WithValues("plugin", rebalance.PluginName, "pod", klog.KObj(pod), "node", source, "target", target)
	if p.args.DryRun {
		logger.V(1).Info("Pod would be moved")
		return
	}
	if !p.handle.Evictor().PreEvictionFilter(pod) {
		logger.V(2).Info("Pod may not be evicted")
		return
	}
	options := evictions.EvictOptions{StrategyName: rebalance.PluginName, Reason: fmt.Sprintf("the predicted load is spread better with the pod on node %s than on %s", target, source)}
	if loss := v.in.Pods[step.Pod].Loss(); loss != "" {
		options.Reason += "; " + loss
	}
	var err error
	if evictor, ok := p.handle.Evictor().(evictorTo); ok {
		err = evictor.EvictBy(ctx, pod, options, func(job *schedulingv1alpha1.PodMigrationJob) {
			metav1.SetMetaDataAnnotation(&job.ObjectMeta, extension.AnnotationTargetNode, target)
		})
	} else {
		err = p.handle.Evictor().Evict(ctx, pod, options)
	}
	if err != nil {
		logger.V(2).Info("Pod is not moved", "reason", err.Error())
	}
}

// mark writes the deletion cost of a pod, unless it has a lower one.
func (p *Plugin) mark(ctx context.Context, pod *corev1.Pod, cost int32) error {
	if p.args.DryRun || p.writesNothing() {
		return nil
	}
	if has, err := strconv.ParseInt(pod.Annotations[corev1.PodDeletionCost], 10, 32); err == nil && has <= int64(cost) {
		return nil
	}
	patch := fmt.Appendf(nil, `{"metadata":{"uid":%q,"annotations":{%q:"%d"}}}`, pod.UID, corev1.PodDeletionCost, cost)
	if _, err := p.handle.ClientSet().CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		return fmt.Errorf("patch pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return nil
}

// writesNothing is true in a dry run of the descheduler.
func (p *Plugin) writesNothing() bool {
	dry, ok := p.handle.(interface{ DryRun() bool })
	return ok && dry.DryRun()
}
