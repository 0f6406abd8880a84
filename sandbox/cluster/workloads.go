package cluster

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/restmapper"

	"koordinator.sh/koord/sandbox/control"
	"koordinator.sh/koord/sandbox/scenario"
	"koordinator.sh/koord/sandbox/state"
)

// EnsureWorkloads creates the scenario's objects that are not there yet. What exists is left as the user made it. It returns the
// pods that it waited for, and that no node takes.
func (c *Cluster) EnsureWorkloads(ctx context.Context, spec state.Spec, detail func(string)) ([]control.PendingPod, error) {
	workloads, err := scenario.Workloads(spec.Scenario, spec.Nodes)
	if err != nil {
		return nil, err
	}
	var pending []control.PendingPod
	if spec.RealNode != "" {
		// Their images do not exist, and what they use is simulated.
		scenario.KeepToSimulatedNodes(workloads)
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(c.client.Discovery()))
	for i, wave := range workloads {
		detail(fmt.Sprintf("wave %d of %d", i+1, len(workloads)))
		group, groupCtx := errgroup.WithContext(ctx)
		group.SetLimit(writers)
		for _, object := range wave.Objects {
			group.Go(func() error { return c.create(groupCtx, mapper, object) })
		}
		if err := group.Wait(); err != nil {
			return nil, err
		}
		unbound, err := c.awaitBound(ctx, wave, detail)
		if err != nil {
			return nil, err
		}
		pending = append(pending, unbound...)
	}
	return pending, nil
}

func (c *Cluster) create(ctx context.Context, mapper *restmapper.DeferredDiscoveryRESTMapper, object runtime.Object) error {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return fmt.Errorf("convert workload: %w", err)
	}
	u := &unstructured.Unstructured{Object: content}
	gvk := u.GroupVersionKind()
	mapping, err := mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return fmt.Errorf("find resource of %s %q: %w", gvk.Kind, u.GetName(), err)
	}
	resource := c.dynamic.Resource(mapping.Resource)
	if u.GetNamespace() != "" {
		_, err = resource.Namespace(u.GetNamespace()).Create(ctx, u, metav1.CreateOptions{})
	} else {
		_, err = resource.Create(ctx, u, metav1.CreateOptions{})
	}
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create %s %q: %w", gvk.Kind, u.GetName(), err)
	}
	return nil
}
