package informer

import (
	"context"
	"fmt"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// Kind is a custom resource to watch.
type Kind struct {
	// Resource in the plural, as in the API path.
	Resource schema.GroupVersionResource
	// Object is an empty object of the type.
	Object runtime.Object
	// Register adds the type to a scheme.
	Register func(*runtime.Scheme) error
	// Absent is what the lack of the resource means, for the log.
	Absent string
}

// Informer of one kind. It is safe for concurrent use.
type Informer struct {
	cache.SharedIndexInformer
	kind Kind
	// missing is true while the resource is not served or may not be read; it keeps the log quiet.
	missing atomic.Bool
}

// New returns an informer of all objects of a kind in the cluster that config reaches. Nothing is watched before
// RunWithContext.
func New(config *rest.Config, kind Kind) (*Informer, error) {
	source, err := sourceOf(config, kind)
	if err != nil {
		return nil, err
	}
	return NewFrom(source, kind)
}

// NewFrom is New for objects from another source.
func NewFrom(source cache.ListerWatcher, kind Kind) (*Informer, error) {
	indexers := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	informer := &Informer{kind: kind, SharedIndexInformer: cache.NewSharedIndexInformer(source, kind.Object, 0, indexers)}
	if err := informer.SetTransform(Trim); err != nil {
		return nil, fmt.Errorf("set up the informer of %s: %w", kind.Resource.Resource, err)
	}
	if err := informer.SetWatchErrorHandlerWithContext(informer.watchFailed); err != nil {
		return nil, fmt.Errorf("set up the informer of %s: %w", kind.Resource.Resource, err)
	}
	return informer, nil
}

func sourceOf(config *rest.Config, kind Kind) (cache.ListerWatcher, error) {
	scheme := runtime.NewScheme()
	if err := kind.Register(scheme); err != nil {
		return nil, fmt.Errorf("register the types of %s: %w", kind.Resource.Resource, err)
	}
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	typed := rest.CopyConfig(rest.AddUserAgent(config, "scheduler-"+kind.Resource.Resource))
	version := kind.Resource.GroupVersion()
	typed.GroupVersion = &version
	typed.APIPath = "/apis"
	typed.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	typed.ContentType, typed.AcceptContentTypes = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	client, err := rest.RESTClientFor(typed)
	if err != nil {
		return nil, fmt.Errorf("create a client for %s: %w", kind.Resource.Resource, err)
	}
	return cache.NewListWatchFromClient(client, kind.Resource.Resource, metav1.NamespaceAll, fields.Everything()), nil
}

// Trim drops the managed fields of an object, which no plugin reads.
func Trim(object any) (any, error) {
	if accessor, err := meta.Accessor(object); err == nil {
		accessor.SetManagedFields(nil)
	}
	return object, nil
}

// watchFailed says once that the resource is not served, or may not be read; everything else is reported as usual.
func (i *Informer) watchFailed(ctx context.Context, reflector *cache.Reflector, err error) {
	absent, forbidden := apierrors.IsNotFound(err), apierrors.IsForbidden(err)
	if !absent && !forbidden {
		i.missing.Store(false)
		cache.DefaultWatchErrorHandler(ctx, reflector, err)
		return
	}
	if i.missing.Swap(true) {
		return
	}
	logger, resource := klog.FromContext(ctx), i.kind.Resource.GroupResource().String()
	if forbidden {
		logger.Error(err, "A custom resource may not be read; its objects are taken not to exist", "resource", resource, "consequence", i.kind.Absent)
		return
	}
	logger.Info("A custom resource is not served by the cluster", "resource", resource, "consequence", i.kind.Absent)
}

// Missing is true once it is known that the cluster does not serve the resource, or not to this user, until it does.
func (i *Informer) Missing() bool { return i.missing.Load() && !i.HasSynced() }

// Settled is true once all objects are known, or it is known that they cannot be.
func (i *Informer) Settled() bool { return i.HasSynced() || i.Missing() }

// Get returns the object with the key NAMESPACE/NAME, or NAME for a kind without namespaces.
func Get[T any](informer cache.SharedIndexInformer, key string) (T, bool) {
	object, found, err := informer.GetIndexer().GetByKey(key)
	typed, ok := object.(T)
	return typed, err == nil && found && ok
}
