package framework

import (
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
)

// serves says whether the cluster serves a resource.
func serves(client discovery.DiscoveryInterface, groupVersion, resource string) (bool, error) {
	list, err := client.ServerResourcesForGroupVersion(groupVersion)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("discover %s: %w", groupVersion, err)
	}
	return slices.ContainsFunc(list.APIResources, func(served metav1.APIResource) bool { return served.Name == resource }), nil
}
