package part

import (
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
)

// Cluster is what parts connect to, and where they find each other. It is not safe for concurrent use.
type Cluster struct {
	// Config reaches the API server.
	Config *rest.Config
	// Informers of the scheduler.
	Informers informers.SharedInformerFactory
	// Now is the clock.
	Now func() time.Time

	shared map[reflect.Type]any
}

// Pods is the scheduler's informer of pods.
func (c *Cluster) Pods() cache.SharedIndexInformer { return c.Informers.Core().V1().Pods().Informer() }

// Nodes is the scheduler's informer of nodes.
func (c *Cluster) Nodes() cache.SharedIndexInformer {
	return c.Informers.Core().V1().Nodes().Informer()
}

// Shared returns the one value of a type that the parts of a cluster share, and makes it when it is asked for first.
func Shared[T any](c *Cluster, make func() (T, error)) (T, error) {
	kind := reflect.TypeFor[T]()
	if known, found := c.shared[kind].(T); found {
		return known, nil
	}
	made, err := make()
	if err != nil {
		return made, err
	}
	if c.shared == nil {
		c.shared = map[reflect.Type]any{}
	}
	c.shared[kind] = made
	return made, nil
}

// Controllers is what controllers work with. Its clients are apart from those that bind pods, which must not wait for them.
type Controllers struct {
	// Pods and Objects reach the API server.
	Pods    kubernetes.Interface
	Objects dynamic.Interface
	// Informers of the scheduler.
	Informers informers.SharedInformerFactory
	Recorder  events.EventRecorder
	// Profiles of the scheduler as they are configured.
	Profiles []config.KubeSchedulerProfile
	// Leads is true while this process is the leader.
	Leads func() bool
	Now   func() time.Time
}

// Args are the arguments of a plugin in the first profile that has any; nil when none has.
func (c *Controllers) Args(plugin string) runtime.Object {
	for _, profile := range c.Profiles {
		for _, configured := range profile.PluginConfig {
			if configured.Name == plugin {
				return configured.Args
			}
		}
	}
	return nil
}
