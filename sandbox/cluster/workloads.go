package cluster

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"

	"koordinator.sh/koord/sandbox/control"
	"koordinator.sh/koord/sandbox/scenario"
	"koordinator.sh/koord/sandbox/state"
)

// EnsureWorkloads creates the scenario's objects that are not there yet. What exists is left as the user made it. It returns the
// pods that it waited for, and that no node takes.
func (c *Cluster) EnsureWorkloads(ctx context.Context, spec state.Spec, detail func(string)) (pending []control.PendingPod, err error) {
	workloads, err := scenario.Workloads(spec.Scenario, spec.Nodes)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.uncordon(ctx)) }()
	if spec.RealNode != "" {
		// Their images do not exist, and what they use is simulated.
		scenario.KeepToSimulatedNodes(workloads)
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(c.client.Discovery()))
	for i, wave := range workloads {
		detail(fmt.Sprintf("wave %d of %d", i+1, len(workloads)))
		if err := c.createWave(ctx, mapper, wave); err != nil {
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

// createWave creates those objects of a wave that are not there yet. While it does, only the nodes that the wave names take pods, unless
// all of its objects are there.
func (c *Cluster) createWave(ctx context.Context, mapper *restmapper.DeferredDiscoveryRESTMapper, wave scenario.Wave) error {
	if len(wave.OnlyOn) > 0 {
		missing, err := c.anyMissing(ctx, mapper, wave.Objects)
		if err != nil {
			return err
		}
		if missing {
			if err := c.cordonAllBut(ctx, wave.OnlyOn); err != nil {
				return err
			}
		}
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for _, object := range wave.Objects {
		group.Go(func() error { return c.create(groupCtx, mapper, object) })
	}
	return group.Wait()
}

func (c *Cluster) anyMissing(ctx context.Context, mapper *restmapper.DeferredDiscoveryRESTMapper, objects []runtime.Object) (bool, error) {
	for _, object := range objects {
		u, resource, err := c.resourceOf(mapper, object)
		if err != nil {
			return false, err
		}
		_, err = resource.Get(ctx, u.GetName(), metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		if err != nil {
			return false, fmt.Errorf("get %s %q: %w", u.GetKind(), u.GetName(), err)
		}
	}
	return false, nil
}

func (c *Cluster) create(ctx context.Context, mapper *restmapper.DeferredDiscoveryRESTMapper, object runtime.Object) error {
	u, resource, err := c.resourceOf(mapper, object)
	if err != nil {
		return err
	}
	if _, err := resource.Create(ctx, u, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create %s %q: %w", u.GetKind(), u.GetName(), err)
	}
	return nil
}

// resourceOf returns an object in the form that the client of its kind takes, and that client.
func (c *Cluster) resourceOf(mapper *restmapper.DeferredDiscoveryRESTMapper, object runtime.Object) (*unstructured.Unstructured, dynamic.ResourceInterface, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, nil, fmt.Errorf("convert workload: %w", err)
	}
	u := &unstructured.Unstructured{Object: content}
	gvk := u.GroupVersionKind()
	mapping, err := mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return nil, nil, fmt.Errorf("find resource of %s %q: %w", gvk.Kind, u.GetName(), err)
	}
	if u.GetNamespace() == "" {
		return u, c.dynamic.Resource(mapping.Resource), nil
	}
	return u, c.dynamic.Resource(mapping.Resource).Namespace(u.GetNamespace()), nil
}
