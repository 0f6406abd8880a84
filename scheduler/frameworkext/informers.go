package frameworkext

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	kubeconfig "k8s.io/kubernetes/cmd/kube-scheduler/app/config"
)

// ShareInformers has the scheduling queue hear of custom resources from the informers that the plugins use.
func ShareInformers(completed *kubeconfig.CompletedConfig, shared map[schema.GroupVersionResource]cache.SharedIndexInformer) {
	completed.DynInformerFactory = eventSource{DynamicSharedInformerFactory: completed.DynInformerFactory, shared: shared}
}

// eventSource gives the scheduling queue the informers of custom resources that the plugins use, in place of second ones.
// The scheduler waits for every informer it gets from here before it schedules; for these it must not, because a cluster
// that does not serve a resource is one without such objects, and not a reason to stand still. Run waits for those that
// are served.
type eventSource struct {
	dynamicinformer.DynamicSharedInformerFactory
	shared map[schema.GroupVersionResource]cache.SharedIndexInformer
}

// ForResource returns the shared informer of a resource that has one, and a dynamic one for anything else.
func (s eventSource) ForResource(resource schema.GroupVersionResource) informers.GenericInformer {
	if shared := s.shared[resource]; shared != nil {
		return sharedInformer{shared, resource}
	}
	return s.DynamicSharedInformerFactory.ForResource(resource)
}

type sharedInformer struct {
	informer cache.SharedIndexInformer
	resource schema.GroupVersionResource
}

// Informer returns the informer, whose handlers never ask to be waited for.
func (s sharedInformer) Informer() cache.SharedIndexInformer { return unhurried{s.informer} }

// Lister of the informer's objects.
func (s sharedInformer) Lister() cache.GenericLister {
	return cache.NewGenericLister(s.informer.GetIndexer(), s.resource.GroupResource())
}

type unhurried struct{ cache.SharedIndexInformer }

// AddEventHandler registers a handler that counts as in sync from the start.
func (u unhurried) AddEventHandler(handler cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	registration, err := u.SharedIndexInformer.AddEventHandler(handler)
	if err != nil {
		return nil, err
	}
	return inSync{registration}, nil
}

type inSync struct {
	cache.ResourceEventHandlerRegistration
}

// HasSynced is always true.
func (inSync) HasSynced() bool { return true }

// HasSyncedChecker is always done.
func (inSync) HasSyncedChecker() cache.DoneChecker { return done{} }

type done struct{}

// Name of what is waited for.
func (done) Name() string { return "custom resource" }

// Done returns a closed channel.
func (done) Done() <-chan struct{} {
	closed := make(chan struct{})
	close(closed)
	return closed
}
