package live

import (
	"context"
	"sync"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/noderesource/recommend"
)

// autoscalers collects those of namespaces.
type autoscalers struct {
	mu sync.Mutex
	of map[string]recommend.Autoscalers
	// gaps are those that could not be read.
	gaps gaps
}

// add an autoscaler to those of a namespace.
func (a *autoscalers) add(namespace string, add func(recommend.Autoscalers)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.of == nil {
		a.of = map[string]recommend.Autoscalers{}
	}
	if a.of[namespace] == nil {
		a.of[namespace] = recommend.Autoscalers{}
	}
	add(a.of[namespace])
}

// horizontal reads the HorizontalPodAutoscalers of a namespace, or of all.
func (a *autoscalers) horizontal(ctx context.Context, c *clients, namespace string) error {
	found, err := listOf[autoscalingv2.HorizontalPodAutoscaler](ctx, c, autoscalingv2.SchemeGroupVersion, "horizontalpodautoscalers", namespace, managedFieldsDrop)
	for i := range found {
		a.add(found[i].Namespace, func(to recommend.Autoscalers) { to.AddHorizontal(&found[i]) })
	}
	return a.gaps.lacks(err, "which resources HorizontalPodAutoscalers scale by is unknown")
}

// vertical reads the VerticalPodAutoscalers of a namespace, or of all; in a cluster that does not know them there are none.
func (a *autoscalers) vertical(ctx context.Context, c *clients, namespace string) error {
	version := schema.GroupVersion{Group: recommend.VerticalGroup, Version: recommend.VerticalVersion}
	found, err := listOf[recommend.VerticalAutoscaler](ctx, c, version, recommend.VerticalResource, namespace, managedFieldsDrop)
	for i := range found {
		a.add(found[i].Namespace, func(to recommend.Autoscalers) { to.AddVertical(&found[i]) })
	}
	// Who may not list them is told so in a cluster without them, too.
	if hasCode(err, finding.Forbidden) && c.unserved(ctx, version) {
		return nil
	}
	return a.gaps.lacks(err, "which resources VerticalPodAutoscalers set is unknown")
}

// unserved is true where a cluster does not know a version of an API group, which everybody may ask.
func (c *clients) unserved(ctx context.Context, version schema.GroupVersion) bool {
	_, err := rawOf(c.core.Get().AbsPath("/apis", version.Group, version.Version).SetHeader("Accept", "application/json").MaxRetries(retries).Do(ctx))
	return apierrors.IsNotFound(err)
}
