package quotaprofile

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	quotav1alpha1 "koordinator.sh/koord/api/quota/v1alpha1"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/admission/quotaprofile"
)

const (
	fieldManager = "koord-manager"
	// retry is how soon a quota that cannot be written is tried again; events about it repeat no sooner.
	retry = 30 * time.Second
)

// reconciler writes the quota of one profile. Nothing is written that is as it should be.
type reconciler struct {
	client   client.Client
	recorder events.EventRecorder
}

// Reconcile brings the quota of a profile, and the tree ID of its label, in line with the nodes.
func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var profile quotav1alpha1.ElasticQuotaProfile
	if err := r.client.Get(ctx, request.NamespacedName, &profile); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if profile.DeletionTimestamp != nil {
		return ctrl.Result{}, nil
	}
	nodes, err := r.nodes(ctx, &profile)
	if err != nil {
		return ctrl.Result{}, err
	}
	result, err := quotaprofile.Decide(&profile, nodes)
	if err != nil {
		r.announce(&profile, finding.QuotaProfileInvalid, err.Error())
		return ctrl.Result{}, nil // until the profile changes
	}
	if err := r.label(ctx, &profile, result.TreeID); err != nil {
		return ctrl.Result{}, err
	}
	blocked, err := r.write(ctx, &profile, &result)
	if err != nil {
		return ctrl.Result{}, err
	}
	if blocked != "" {
		r.announce(&profile, finding.QuotaProfileBlocked, blocked)
		return ctrl.Result{RequeueAfter: retry}, nil
	}
	return ctrl.Result{}, nil
}

// nodes that the profile selects, from the cache; they must not be modified. An invalid selector selects none.
func (r *reconciler) nodes(ctx context.Context, profile *quotav1alpha1.ElasticQuotaProfile) ([]*corev1.Node, error) {
	selector, err := quotaprofile.Selector(profile)
	if err != nil {
		return nil, nil //nolint:nilerr // the decision says what is wrong with it
	}
	var list corev1.NodeList
	if err := r.client.List(ctx, &list, client.MatchingLabelsSelector{Selector: selector}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list the nodes of profile %s/%s: %w", profile.Namespace, profile.Name, err)
	}
	nodes := make([]*corev1.Node, 0, len(list.Items))
	for i := range list.Items {
		nodes = append(nodes, &list.Items[i])
	}
	return nodes, nil
}

// label writes the tree ID to the profile, by which pods and people find it.
func (r *reconciler) label(ctx context.Context, profile *quotav1alpha1.ElasticQuotaProfile, treeID string) error {
	if profile.Labels[extension.LabelQuotaTreeID] == treeID {
		return nil
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": profile.UID, "labels": map[string]string{extension.LabelQuotaTreeID: treeID}}})
	if err != nil {
		return fmt.Errorf("encode the tree ID of profile %s/%s: %w", profile.Namespace, profile.Name, err)
	}
	if err := r.client.Patch(ctx, profile.DeepCopy(), client.RawPatch(types.MergePatchType, patch)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("label profile %s/%s: %w", profile.Namespace, profile.Name, err)
	}
	return nil
}

// write applies the quota if it differs. It returns why it cannot, for a quota that does not belong to the profile and for one that
// admission denies.
func (r *reconciler) write(ctx context.Context, profile *quotav1alpha1.ElasticQuotaProfile, result *quotaprofile.Result) (blocked string, err error) {
	name := types.NamespacedName{Namespace: profile.Namespace, Name: profile.Spec.QuotaName}
	var live schedulingsigsv1alpha1.ElasticQuota
	switch err := r.client.Get(ctx, name, &live); {
	case apierrors.IsNotFound(err):
	case err != nil:
		return "", fmt.Errorf("get quota %s: %w", name, err)
	case live.Labels[extension.LabelQuotaProfile] != profile.Name:
		return fmt.Sprintf("quota %s already exists and does not belong to profile %s: its label %s is %q", name, profile.Name, extension.LabelQuotaProfile,
			live.Labels[extension.LabelQuotaProfile]), nil
	case inSync(&live, result):
		return "", nil
	}
	err = r.apply(ctx, name, result)
	if apierrors.IsForbidden(err) || apierrors.IsInvalid(err) {
		return err.Error(), nil
	}
	if err == nil {
		klog.FromContext(ctx).Info("Applied the quota of a profile", "profile", client.ObjectKeyFromObject(profile), "quota", name,
			"nodes", result.Nodes, "unschedulable", result.UnschedulableNodes, "ratio", result.Ratio)
	}
	return "", err
}

func (r *reconciler) apply(ctx context.Context, name types.NamespacedName, result *quotaprofile.Result) error {
	quota := &schedulingsigsv1alpha1.ElasticQuota{Spec: schedulingsigsv1alpha1.ElasticQuotaSpec{Min: result.Min, Max: result.Max}}
	quota.APIVersion, quota.Kind = schedulingsigsv1alpha1.GroupVersion.String(), "ElasticQuota"
	quota.Namespace, quota.Name, quota.Labels, quota.Annotations = name.Namespace, name.Name, result.Labels, result.Annotations
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(quota)
	if err != nil {
		return fmt.Errorf("encode quota %s: %w", name, err)
	}
	unstructured.RemoveNestedField(content, "metadata", "creationTimestamp")
	unstructured.RemoveNestedField(content, "status")
	configuration := client.ApplyConfigurationFromUnstructured(&unstructured.Unstructured{Object: content})
	if err := r.client.Apply(ctx, configuration, client.FieldOwner(fieldManager), client.ForceOwnership); err != nil {
		return fmt.Errorf("apply quota %s: %w", name, err)
	}
	return nil
}

// inSync reports whether a quota matches its profile and the nodes. Fields of other managers are ignored.
func inSync(live *schedulingsigsv1alpha1.ElasticQuota, result *quotaprofile.Result) bool {
	for key, value := range result.Labels {
		if live.Labels[key] != value {
			return false
		}
	}
	for key, value := range result.Annotations {
		if live.Annotations[key] != value {
			return false
		}
	}
	return equality.Semantic.DeepEqual(live.Spec.Min, result.Min) && equality.Semantic.DeepEqual(live.Spec.Max, result.Max)
}

func (r *reconciler) announce(profile *quotav1alpha1.ElasticQuotaProfile, code finding.Code, message string) {
	r.recorder.Eventf(profile, nil, corev1.EventTypeWarning, code.Name(), "WriteQuota", "[%s] %.900s", code, message)
}
