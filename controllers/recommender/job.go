package recommender

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	analysisv1alpha1 "koordinator.sh/koord/api/analysis/v1alpha1"
	"koordinator.sh/koord/decision/core/jobinsight"
	"koordinator.sh/koord/decision/noderesource/recommend"
)

// Runs are what is known of former runs of jobs.
type Runs interface {
	Latest(ctx context.Context) (*jobinsight.Store, error)
}

// predict has the containers of jobs recommended by former runs. Between two runs there are no pods, and those of the last run count. If former
// runs cannot be read, what was predicted before remains.
func (r *reconciler) predict(ctx context.Context, old *analysisv1alpha1.Recommendation, w *workload, pods []*corev1.Pod) {
	if r.runs == nil {
		return
	}
	if len(pods) > 0 {
		kind, container, isJob := recommend.KindOf(pods)
		if !isJob {
			w.forgetJob()
			return
		}
		w.kind, w.jobContainer = kind, container
	}
	if w.jobContainer == "" {
		return
	}
	store, err := r.runs.Latest(ctx)
	if err != nil {
		klog.FromContext(ctx).Error(err, "Failed to read former runs of a job", "recommendation", client.ObjectKeyFromObject(old))
		return
	}
	if container := w.container(w.jobContainer); container != nil {
		container.Job = recommend.JobOf(store, w.kind)
	}
}

func (w *workload) forgetJob() {
	w.jobContainer = ""
	for _, container := range w.containers {
		container.Job = nil
	}
}
