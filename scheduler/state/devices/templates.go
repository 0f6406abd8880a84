package devices

import (
	"context"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"koordinator.sh/koord/decision/scheduling/device"
)

// templateKey is where a ConfigMap of templates has them.
const templateKey = "data.yaml"

// templateSources are the ConfigMaps of templates that profiles name. They are watched from the first time that a pod
// needs one, since most clusters have no GPUs that are cut by templates.
type templateSources struct {
	client kubernetes.Interface
	mutex  sync.Mutex
	// running is the context of Run, nil outside of it.
	running context.Context
	sources map[types.NamespacedName]*templateSource
	tasks   sync.WaitGroup
}

// templateSource is one ConfigMap.
type templateSource struct {
	name    types.NamespacedName
	current atomic.Pointer[device.Templates]
	synced  atomic.Bool
	refused atomic.Bool
}

// Templates returns the templates in a ConfigMap; false when they are not known yet. The first call starts to watch it.
// A ConfigMap that is not there, or cannot be read, has none.
func (s *State) Templates(namespace, name string) (device.Templates, bool) {
	source := s.templates.source(types.NamespacedName{Namespace: namespace, Name: name})
	if !source.synced.Load() {
		return nil, false
	}
	if templates := source.current.Load(); templates != nil {
		return *templates, true
	}
	return nil, true
}

func (t *templateSources) source(name types.NamespacedName) *templateSource {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	found := t.sources[name]
	if found == nil {
		found = &templateSource{name: name}
		if t.sources == nil {
			t.sources = map[types.NamespacedName]*templateSource{}
		}
		t.sources[name] = found
		t.watch(found)
	}
	return found
}

func (t *templateSources) start(ctx context.Context) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.running = ctx
	for _, source := range t.sources {
		t.watch(source)
	}
}

func (t *templateSources) stop() {
	t.mutex.Lock()
	t.running = nil
	t.mutex.Unlock()
	t.tasks.Wait()
}

// watch runs the informer of a source for as long as Run lasts. The mutex is held.
func (t *templateSources) watch(source *templateSource) {
	ctx := t.running
	if ctx == nil {
		return
	}
	only := fields.OneTermEqualSelector("metadata.name", source.name.Name).String()
	factory := informers.NewSharedInformerFactoryWithOptions(t.client, 0, informers.WithNamespace(source.name.Namespace),
		informers.WithTweakListOptions(func(options *metav1.ListOptions) { options.FieldSelector = only }))
	watched := factory.Core().V1().ConfigMaps().Informer()
	registration, err := watched.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: source.observe, UpdateFunc: func(_, object any) { source.observe(object) }, DeleteFunc: source.gone,
	})
	if err == nil {
		err = watched.SetWatchErrorHandlerWithContext(source.watchFailed)
	}
	if err != nil {
		klog.FromContext(ctx).Error(err, "Shared-resource templates are not watched", "configMap", source.name)
		return
	}
	t.tasks.Go(func() { watched.RunWithContext(ctx) })
	t.tasks.Go(func() {
		if cache.WaitForCacheSync(ctx.Done(), registration.HasSynced) {
			source.synced.Store(true)
		}
	})
}

func (s *templateSource) observe(object any) {
	written, ok := object.(*corev1.ConfigMap)
	if !ok || written.Name != s.name.Name {
		return
	}
	templates, err := device.DecodeTemplates(written.Data[templateKey])
	if err != nil {
		klog.Background().Error(err, "Shared-resource templates keep their last content", "configMap", s.name)
		return
	}
	s.current.Store(&templates)
}

func (s *templateSource) gone(object any) {
	if name, err := cache.DeletionHandlingObjectToName(object); err == nil && name.Name == s.name.Name {
		s.current.Store(nil)
	}
}

// watchFailed counts a ConfigMap that may not be read as one that is not there, and says so once.
func (s *templateSource) watchFailed(ctx context.Context, reflector *cache.Reflector, err error) {
	if !apierrors.IsForbidden(err) && !apierrors.IsNotFound(err) {
		cache.DefaultWatchErrorHandler(ctx, reflector, err)
		return
	}
	s.synced.Store(true)
	if !s.refused.Swap(true) {
		klog.FromContext(ctx).Error(err, "Shared-resource templates cannot be read; there are none", "configMap", s.name)
	}
}
