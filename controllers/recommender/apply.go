package recommender

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	analysisv1alpha1 "koordinator.sh/koord/api/analysis/v1alpha1"
	"koordinator.sh/koord/decision/core/podresize"
	"koordinator.sh/koord/decision/noderesource/recommend"
)

// plan says which pods to resize: none unless both the manager and the Recommendation want it. Where the autoscalers of the namespace
// cannot be read, it is not known what is theirs, and nothing is resized.
func (r *reconciler) plan(ctx context.Context, recommendation *analysisv1alpha1.Recommendation, w *workload, pods []*corev1.Pod, at time.Time) (recommend.ResizePlan, error) {
	wanted := recommendation.Annotations[analysisv1alpha1.AnnotationRecommendationApply] == analysisv1alpha1.RecommendationApplyInPlace
	w.held = nil
	if !r.apply || !wanted {
		return recommend.ResizePlan{}, nil
	}
	autoscalers, err := r.autoscalers(ctx, recommendation.Namespace)
	if err != nil {
		return recommend.ResizePlan{}, err
	}
	w.held = autoscalers.Holds(pods)
	plan := recommend.Resizes(recommend.ResizeInput{
		At: at, Options: r.resizes, Pods: pods, Recommendations: w.advised, Applied: w.applied, Autoscalers: autoscalers,
	})
	logger := klog.FromContext(ctx)
	for _, skip := range plan.Skipped {
		logger.V(4).Info("Did not resize a pod", "pod", klog.KObj(skip.Pod), "recommendation", klog.KObj(recommendation), "because", skip.Reason)
	}
	return plan, nil
}

// resize changes the resources of running pods.
func (r *reconciler) resize(ctx context.Context, resizes []recommend.Resize) error {
	var errs []error
	for _, resize := range resizes {
		if err := r.limiter.Wait(ctx); err != nil {
			return fmt.Errorf("wait for the rate limit: %w", err)
		}
		patch, err := podresize.Patch(resize.Pod, resize.Containers)
		if err != nil {
			return err
		}
		pod := &corev1.Pod{}
		pod.Namespace, pod.Name = resize.Pod.Namespace, resize.Pod.Name
		err = r.client.SubResource("resize").Patch(ctx, pod, client.RawPatch(types.StrategicMergePatchType, patch), client.FieldOwner("koord-manager"))
		countResize(err)
		switch {
		case err == nil:
			klog.FromContext(ctx).Info("Resized a pod to its recommendation", "pod", klog.KObj(resize.Pod), "patch", string(patch))
		case apierrors.IsNotFound(err) || apierrors.IsConflict(err):
			klog.FromContext(ctx).V(2).Info("Did not resize a pod that was replaced", "pod", klog.KObj(resize.Pod), "because", err.Error())
		default:
			errs = append(errs, fmt.Errorf("resize pod %q in namespace %q: %w", pod.Name, pod.Namespace, err))
		}
	}
	return errors.Join(errs...)
}
