package source

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ObjectReader is a source that can also read objects whole. Implementations are safe for concurrent use.
type ObjectReader interface {
	// Object is the object of that kind and name as the API server has it; the namespace is ignored for kinds without one. A name that does
	// not exist is an error with code KOORD0003.
	Object(ctx context.Context, kind Kind, namespace, name string) (*unstructured.Unstructured, error)
}
