package webhooks

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	configv1alpha1 "koordinator.sh/koord/api/config/v1alpha1"
	"koordinator.sh/koord/decision/admission/colocationprofile"
	"koordinator.sh/koord/decision/admission/podvalidation"
)

// readProfiles returns every profile. They belong to the cache and must not be modified.
func readProfiles(ctx context.Context, reader client.Reader) ([]configv1alpha1.ClusterColocationProfile, error) {
	var profiles configv1alpha1.ClusterColocationProfileList
	if err := reader.List(ctx, &profiles, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list colocation profiles: %w", err)
	}
	return profiles.Items, nil
}

// readClasses returns every PriorityClass by name.
func readClasses(ctx context.Context, reader client.Reader) (map[string]colocationprofile.PriorityClass, error) {
	var list schedulingv1.PriorityClassList
	if err := reader.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list priority classes: %w", err)
	}
	classes := make(map[string]colocationprofile.PriorityClass, len(list.Items))
	for i := range list.Items {
		classes[list.Items[i].Name] = colocationprofile.ClassOf(&list.Items[i])
	}
	return classes, nil
}

// readNamespaceLabels asks the cache, and the API server about a namespace that the cache does not have yet.
func readNamespaceLabels(ctx context.Context, cached, live client.Reader, name string) (map[string]string, error) {
	var namespace corev1.Namespace
	err := cached.Get(ctx, types.NamespacedName{Name: name}, &namespace)
	if apierrors.IsNotFound(err) && live != nil {
		err = live.Get(ctx, types.NamespacedName{Name: name}, &namespace)
	}
	if err != nil {
		return nil, fmt.Errorf("get namespace %q: %w", name, err)
	}
	return namespace.Labels, nil
}

// readQuota looks up what is known of the quota that a pod asks for; nil when it asks for none. Quotas of the same name in several
// namespaces cannot be distinguished, so one that is a parent counts.
func readQuota(ctx context.Context, reader client.Reader, pod *corev1.Pod) (*podvalidation.Quota, error) {
	name, named, err := readNamed(ctx, reader, pod)
	if name == "" || err != nil {
		return nil, err
	}
	found := &podvalidation.Quota{Name: name, Exists: len(named) > 0, Parent: named.Parent()}
	if counts := named.Counting(); counts != nil {
		found.Namespace, found.Serves = counts.Namespace, counts.Serves(pod.Namespace)
	}
	return found, nil
}
