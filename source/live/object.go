package live

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"

	"koordinator.sh/koord/source"
)

// Object reads one object whole, as the API server has it but without managed fields. The namespace is ignored for kinds without
// one.
func (s *Source) Object(ctx context.Context, kind source.Kind, namespace, name string) (*unstructured.Unstructured, error) {
	c, err := s.connect()
	if err != nil {
		return nil, err
	}
	u, err := c.object(ctx, kind, namespace, name)
	if err != nil {
		return nil, err
	}
	u.SetManagedFields(nil)
	return u, nil
}

// object reads one object with its managed fields.
func (c *clients) object(ctx context.Context, kind source.Kind, namespace, name string) (*unstructured.Unstructured, error) {
	client, err := c.of(kind)
	if err != nil {
		return nil, fmt.Errorf("read object: %w", err)
	}
	r := requestFor("get", kind, namespace)
	r.name = name
	raw, err := rawOf(client.Get().NamespaceIfScoped(r.namespace, r.namespace != "").Resource(r.resource).Name(name).
		MaxRetries(retries).SetHeader("Accept", "application/json").Do(ctx))
	if err != nil {
		return nil, failure(ctx, r, err)
	}
	u := &unstructured.Unstructured{}
	if err := json.Unmarshal(raw, &u.Object); err != nil {
		return nil, fmt.Errorf("read %s %q: %w", kind, name, err)
	}
	u.SetGroupVersionKind(kind.API)
	return u, nil
}
