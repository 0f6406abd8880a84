package live

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"koordinator.sh/koord/decision/descheduling/migration"
)

// evictionRequest reads the EvictionRequest of a job, or that the cluster serves none. It is not asked for where the answer does not depend
// on it.
func (m *migrationReader) evictionRequest(ctx context.Context) (unseen bool, _ error) {
	if !migration.ReadsEvictionRequest(m.in.Job, migration.PodOf(m.in.Pod), m.in.Args) {
		return false, nil
	}
	const consequence = "whether the eviction of the pod is requested is unknown"
	resource := migration.EvictionRequests
	r := request{verb: "get", group: resource.Group, resource: resource.Resource, namespace: m.in.Job.Spec.PodRef.Namespace, name: migration.EvictionRequestName(m.in.Job)}
	resources := &metav1.APIResourceList{}
	found, unseen, err := m.seen(failure(ctx, r, m.clients.lifecycle(ctx, resources)), consequence)
	switch {
	case err != nil || unseen:
		return unseen, err
	case !found || !migration.ServesEvictionRequests(resources):
		m.in.EvictionRequestRefusal = migration.EvictionRequestsNotServed
		return false, nil
	}
	object := &unstructured.Unstructured{}
	found, unseen, err = m.seen(failure(ctx, r, m.clients.lifecycle(ctx, &object.Object, "namespaces", r.namespace, r.resource, r.name)), consequence)
	if found {
		m.in.EvictionRequest = migration.EvictionRequestOf(object, m.in.Job)
	}
	return unseen, err
}

// lifecycle reads what is at a path under the group and version of EvictionRequests.
func (c *clients) lifecycle(ctx context.Context, into any, path ...string) error {
	version := migration.EvictionRequests.GroupVersion()
	raw, err := c.core.Get().AbsPath(append([]string{"/apis", version.Group, version.Version}, path...)...).
		SetHeader("Accept", "application/json").MaxRetries(retries).DoRaw(ctx)
	if err != nil {
		return err
	}
	if err := utiljson.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("decode what is at %s: %w", version, err)
	}
	return nil
}
