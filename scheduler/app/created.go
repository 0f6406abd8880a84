package app

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

// createdPlugins remembers which plugins each profile got.
type createdPlugins struct {
	mutex     sync.Mutex
	byProfile map[string][]fwk.Plugin
}

// remembering is a registry whose factories note what they make.
func (c *createdPlugins) remembering(registry frameworkruntime.Registry) frameworkruntime.Registry {
	noted := frameworkruntime.Registry{}
	for name, factory := range registry {
		noted[name] = func(ctx context.Context, args runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
			plugin, err := factory(ctx, args, handle)
			if built, ok := handle.(framework.Framework); ok && err == nil {
				c.add(built.ProfileName(), plugin)
			}
			return plugin, err
		}
	}
	return noted
}

func (c *createdPlugins) add(profile string, plugin fwk.Plugin) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.byProfile == nil {
		c.byProfile = map[string][]fwk.Plugin{}
	}
	c.byProfile[profile] = append(c.byProfile[profile], plugin)
}

// of returns the plugins of a profile.
func (c *createdPlugins) of(profile string) []fwk.Plugin {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.byProfile[profile]
}
