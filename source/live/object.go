package live

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"koordinator.sh/koord/source"
)

// Object reads one node or pod whole, as the API server has it but without managed fields. The namespace of a node is
// ignored.
func (s *Source) Object(ctx context.Context, kind source.Kind, namespace, name string) (*unstructured.Unstructured, error) {
	c, err := s.connect()
	if err != nil {
		return nil, err
	}
	var into runtime.Object
	switch kind {
	case source.KindNode:
		into, namespace = &corev1.Node{}, ""
	case source.KindPod:
		into = &corev1.Pod{}
	default:
		return nil, fmt.Errorf("read object: unknown kind %q", kind)
	}
	if err := c.get(ctx, plurals[kind], namespace, name, into); err != nil {
		return nil, err
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(into)
	if err != nil {
		return nil, fmt.Errorf("read %s %q: %w", kind, name, err)
	}
	u := &unstructured.Unstructured{Object: content}
	u.SetManagedFields(nil)
	u.SetAPIVersion("v1")
	u.SetKind(map[source.Kind]string{source.KindNode: "Node", source.KindPod: "Pod"}[kind])
	return u, nil
}
