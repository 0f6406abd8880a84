package framework

import (
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
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

// EvictionRequestResource is the resource of KEP-4563, by which one asks for the eviction of a pod and lets others carry it out. Kubernetes
// 1.37 has it as lifecycle.k8s.io/v1alpha1.
var EvictionRequestResource = schema.GroupResource{Group: "lifecycle.k8s.io", Resource: "evictionrequests"}

// EvictionRequestVersion is the version in which the cluster serves EvictionRequest; empty when it does not.
func EvictionRequestVersion(client discovery.DiscoveryInterface) (string, error) {
	groups, err := client.ServerGroups()
	if err != nil {
		return "", fmt.Errorf("discover API groups: %w", err)
	}
	for _, group := range groups.Groups {
		if group.Name != EvictionRequestResource.Group {
			continue
		}
		for _, version := range group.Versions {
			served, err := serves(client, version.GroupVersion, EvictionRequestResource.Resource)
			if err != nil {
				return "", err
			}
			if served {
				return version.Version, nil
			}
		}
	}
	return "", nil
}
