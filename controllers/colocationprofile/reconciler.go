package colocationprofile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	configv1alpha1 "koordinator.sh/koord/api/config/v1alpha1"
	"koordinator.sh/koord/decision/admission/colocationprofile"
)

const (
	// interval is the time between two reconciliations of all pods.
	interval = 30 * time.Second
	// forceInterval is how soon the same patch is sent again when somebody undid it.
	forceInterval = 5 * time.Minute
	// remember is how long a patch is remembered.
	remember = 10 * time.Minute
)

// sent is a patch that a pod got, or that was refused for good.
type sent struct {
	patch string
	at    time.Time
}

// reconciler applies the managed profiles to pods. It lists all pods each time and remembers only the patches
// it sent, so that it does not fight with a client that reverts them.
type reconciler struct {
	client  client.Client
	exempt  []string
	clock   clock.PassiveClock
	limiter limiter
	sent    map[types.UID]sent
}

// limiter bounds the patches.
type limiter interface {
	Wait(ctx context.Context) error
}

// Reconcile looks at every pod that a managed profile selects.
func (r *reconciler) Reconcile(ctx context.Context, _ reconcile.Request) (ctrl.Result, error) {
	var list configv1alpha1.ClusterColocationProfileList
	if err := r.client.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return ctrl.Result{}, fmt.Errorf("list colocation profiles: %w", err)
	}
	pods, err := r.candidates(ctx, list.Items)
	if err != nil {
		return ctrl.Result{}, err
	}
	r.forget()
	var errs []error
	for _, uid := range slices.Sorted(maps.Keys(pods)) {
		if err := r.maintain(ctx, pods[uid], list.Items); err != nil {
			if ctx.Err() != nil {
				return ctrl.Result{}, ctx.Err()
			}
			errs = append(errs, err)
		}
	}
	return ctrl.Result{RequeueAfter: interval}, errors.Join(errs...)
}

// candidates are the pods that a managed profile selects by their labels, by UID. They belong to the cache.
func (r *reconciler) candidates(ctx context.Context, profiles []configv1alpha1.ClusterColocationProfile) (map[types.UID]*corev1.Pod, error) {
	found := map[types.UID]*corev1.Pod{}
	for i := range profiles {
		selectors, err := colocationprofile.SelectorsOf(&profiles[i])
		if err != nil || !colocationprofile.Managed(&profiles[i]) {
			continue
		}
		var pods corev1.PodList
		selector := client.MatchingLabelsSelector{Selector: labels.NewSelector().Add(selectors.Pod...)}
		if err := r.client.List(ctx, &pods, selector, client.UnsafeDisableDeepCopy); err != nil {
			return nil, fmt.Errorf("list the pods of colocation profile %q: %w", profiles[i].Name, err)
		}
		for j := range pods.Items {
			if pods.Items[j].DeletionTimestamp == nil {
				found[pods.Items[j].UID] = &pods.Items[j]
			}
		}
	}
	return found, nil
}

// maintain patches one pod where it differs.
func (r *reconciler) maintain(ctx context.Context, pod *corev1.Pod, profiles []configv1alpha1.ClusterColocationProfile) error {
	var namespace corev1.Namespace
	if err := r.client.Get(ctx, types.NamespacedName{Name: pod.Namespace}, &namespace); err != nil {
		return client.IgnoreNotFound(err)
	}
	trace := &colocationprofile.Trace{}
	result, err := colocationprofile.Maintain(colocationprofile.Input{
		Pod: pod, Namespace: pod.Namespace, NamespaceLabels: namespace.Labels, Profiles: profiles,
		Options: colocationprofile.Options{ExemptNamespaces: r.exempt},
	}, trace)
	if err != nil {
		return err
	}
	patch, err := metadataPatch(pod, result)
	if err != nil || patch == nil {
		return err
	}
	now := r.clock.Now()
	if last, ok := r.sent[pod.UID]; ok && last.patch == string(patch) && now.Sub(last.at) < forceInterval {
		return nil
	}
	if err := r.limiter.Wait(ctx); err != nil {
		return fmt.Errorf("wait for the rate limit: %w", err)
	}
	target := &corev1.Pod{}
	target.Namespace, target.Name = pod.Namespace, pod.Name
	err = r.client.Patch(ctx, target, client.RawPatch(types.MergePatchType, patch), client.FieldOwner("koord-manager"))
	if settled(err) {
		r.sent[pod.UID] = sent{patch: string(patch), at: now}
	}
	count(err)
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("patch pod %q in namespace %q: %w", pod.Name, pod.Namespace, err)
	}
	klog.FromContext(ctx).V(2).Info("Applied colocation profiles to an existing pod", "pod", klog.KObj(pod), "trace", trace)
	return nil
}

// settled reports whether sending the same patch again would meet the same answer. All other errors pass, and are retried as
// soon as the queue allows.
func settled(err error) bool {
	return err == nil || apierrors.IsForbidden(err) || apierrors.IsInvalid(err)
}

// metadataPatch is a merge patch with the labels and annotations that differ; nil when none do. The UID keeps it from a
// new pod of the same name.
func metadataPatch(before, after *corev1.Pod) ([]byte, error) {
	metadata := map[string]any{}
	if labels := differing(before.Labels, after.Labels); len(labels) > 0 {
		metadata["labels"] = labels
	}
	if annotations := differing(before.Annotations, after.Annotations); len(annotations) > 0 {
		metadata["annotations"] = annotations
	}
	if len(metadata) == 0 {
		return nil, nil
	}
	metadata["uid"] = before.UID
	patch, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return nil, fmt.Errorf("encode the patch of pod %q: %w", before.Name, err)
	}
	return patch, nil
}

func differing(before, after map[string]string) map[string]string {
	changed := map[string]string{}
	for key, value := range after {
		if old, ok := before[key]; !ok || old != value {
			changed[key] = value
		}
	}
	return changed
}

// forget drops patches that are too old to matter.
func (r *reconciler) forget() {
	now := r.clock.Now()
	maps.DeleteFunc(r.sent, func(_ types.UID, s sent) bool { return now.Sub(s.at) > remember })
}
