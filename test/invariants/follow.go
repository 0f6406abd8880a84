package invariants

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
)

// follower runs one list and watch until its context ends.
type follower interface {
	RunWithContext(ctx context.Context)
}

// kind of objects that are followed; changed is called with the mutex held.
type kind struct {
	resource schema.GroupVersionResource
	object   runtime.Object
	changed  func(name types.NamespacedName, before, after metav1.Object)
}

func (w *Watcher) kinds() []kind {
	core, sigs, scheduling := corev1.SchemeGroupVersion, schedulingsigsv1alpha1.GroupVersion, schedulingv1alpha1.GroupVersion
	return []kind{
		{core.WithResource("pods"), &corev1.Pod{}, w.podChanged},
		{core.WithResource("nodes"), &corev1.Node{}, w.nodeChanged},
		{topologyv1alpha1.GroupVersion.WithResource("noderesourcetopologies"), &topologyv1alpha1.NodeResourceTopology{}, w.topologyChanged},
		{scheduling.WithResource("devices"), &schedulingv1alpha1.Device{}, w.deviceChanged},
		{scheduling.WithResource("reservations"), &schedulingv1alpha1.Reservation{}, w.reservationChanged},
		{sigs.WithResource("elasticquotas"), &schedulingsigsv1alpha1.ElasticQuota{}, w.quotaChanged},
		{sigs.WithResource("podgroups"), &schedulingsigsv1alpha1.PodGroup{}, w.podGroupChanged},
	}
}

// backoff of broken watches: a restarted API server is to be followed again before much has happened.
var backoff = wait.Backoff{Duration: 50 * time.Millisecond, Factor: 1.5, Steps: 1 << 20, Cap: 500 * time.Millisecond}

func (w *Watcher) followers(config *rest.Config) ([]follower, error) {
	scheme := runtime.NewScheme()
	for _, register := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, topologyv1alpha1.AddToScheme, schedulingv1alpha1.AddToScheme, schedulingsigsv1alpha1.AddToScheme,
	} {
		if err := register(scheme); err != nil {
			return nil, fmt.Errorf("register the types to watch: %w", err)
		}
	}
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	var followers []follower
	for _, k := range w.kinds() {
		typed := rest.CopyConfig(config)
		version := k.resource.GroupVersion()
		typed.GroupVersion, typed.APIPath = &version, "/apis"
		if version.Group == "" {
			typed.APIPath = "/api"
		}
		typed.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
		typed.ContentType, typed.AcceptContentTypes = runtime.ContentTypeJSON, runtime.ContentTypeJSON
		client, err := rest.RESTClientFor(typed)
		if err != nil {
			return nil, fmt.Errorf("create a client for %s: %w", k.resource.Resource, err)
		}
		source := cache.NewListWatchFromClient(client, k.resource.Resource, metav1.NamespaceAll, fields.Everything())
		store := &stream{watcher: w, kind: k, source: source, objects: map[types.NamespacedName]metav1.Object{}}
		w.streams = append(w.streams, store)
		followers = append(followers, cache.NewReflectorWithOptions(source, k.object, store, cache.ReflectorOptions{
			Name: "invariants-" + k.resource.Resource, Logger: &klog.Logger{}, Backoff: &backoff,
		}))
	}
	return followers, nil
}

// stream takes the events of one kind, in their order.
type stream struct {
	watcher *Watcher
	kind    kind
	source  cache.ListerWithContext
	objects map[types.NamespacedName]metav1.Object
	// newest is the highest revision of an object that was seen.
	newest uint64
	// latest is when the last event was seen; outages are from then on, until a new list came.
	latest  time.Time
	outages []outage
}

type outage struct{ from, until time.Time }

// blind reports whether an event of the kind at most Window away from a moment may not have been seen.
func (s *stream) blind(at time.Time) bool {
	return slices.ContainsFunc(s.outages, func(o outage) bool { return !at.Before(o.from.Add(-Window)) && !at.After(o.until.Add(Window)) })
}

var _ cache.ReflectorStore = &stream{}

// Add takes an object that was added, or changed.
func (s *stream) Add(object any) error { return s.take(object, false) }

// Update is Add.
func (s *stream) Update(object any) error { return s.take(object, false) }

// Delete takes the last state of an object that is gone.
func (s *stream) Delete(object any) error { return s.take(object, true) }

// Resync does nothing: nothing is forgotten.
func (s *stream) Resync() error { return nil }

func (s *stream) take(object any, gone bool) error {
	named, ok := object.(metav1.Object)
	if !ok {
		return fmt.Errorf("%T has no name", object)
	}
	s.watcher.mutex.Lock()
	defer s.watcher.mutex.Unlock()
	s.change(named, gone)
	return nil
}

func (s *stream) change(object metav1.Object, gone bool) {
	s.watcher.seen.Events++
	s.latest = s.watcher.now()
	name := types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}
	before := s.objects[name]
	s.newest = max(s.newest, revisionOf(object))
	if gone {
		delete(s.objects, name)
		object = nil
	} else {
		s.objects[name] = object
	}
	s.kind.changed(name, before, object)
}

// Replace takes a whole list: the first one, or what is there after a watch was broken. What happened in between is taken
// in an order in which it can have happened: what is gone, or has ended, first.
func (s *stream) Replace(list []any, _ string) error {
	s.watcher.mutex.Lock()
	defer s.watcher.mutex.Unlock()
	if s.watcher.synced[s.kind.resource.Resource] {
		s.watcher.seen.Relists++
		clear(s.watcher.parts) // the time in which nothing was seen does not count
		s.outages = append(s.outages, outage{from: s.latest, until: s.watcher.now()})
	}
	present := map[types.NamespacedName]metav1.Object{}
	for _, object := range list {
		if named, ok := object.(metav1.Object); ok {
			present[types.NamespacedName{Namespace: named.GetNamespace(), Name: named.GetName()}] = named
		}
	}
	for name, object := range s.objects {
		if now := present[name]; now == nil || now.GetUID() != object.GetUID() {
			s.change(object, true)
		}
	}
	for _, first := range []bool{true, false} {
		for name, object := range present {
			before := s.objects[name]
			if isEnded(object) == first && (before == nil || before.GetResourceVersion() != object.GetResourceVersion()) {
				s.change(object, false)
			}
		}
	}
	s.watcher.synced[s.kind.resource.Resource] = true
	return nil
}

func isEnded(object metav1.Object) bool {
	pod, isPod := object.(*corev1.Pod)
	return isPod && ended(pod)
}
