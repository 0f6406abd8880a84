// Package replicasets finds what is above ReplicaSets. They are read as metadata, of which one cache serves all of koord-descheduler.
package replicasets

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Kind of ReplicaSets.
var Kind = appsv1.SchemeGroupVersion.WithKind("ReplicaSet")

// Above returns the controller of a ReplicaSet, nil for one without. It is not found when it does not exist, or another one of its name
// does, which a cache may say of a new one.
func Above(ctx context.Context, reader client.Reader, namespace string, of *metav1.OwnerReference) (above *metav1.OwnerReference, found bool, err error) {
	set := &metav1.PartialObjectMetadata{}
	set.SetGroupVersionKind(Kind)
	err = reader.Get(ctx, types.NamespacedName{Namespace: namespace, Name: of.Name}, set)
	switch {
	case apierrors.IsNotFound(err) || err == nil && set.UID != of.UID:
		return nil, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("get ReplicaSet %s/%s: %w", namespace, of.Name, err)
	}
	return metav1.GetControllerOf(set), true, nil
}
