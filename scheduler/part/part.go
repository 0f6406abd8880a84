package part

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	fwk "k8s.io/kube-scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"koordinator.sh/koord/scheduler/frameworkext"
	"koordinator.sh/koord/scheduler/services"
)

// Part is one plugin with the state that its instances share.
type Part struct {
	// Name of the plugin, as profiles enable it.
	Name string
	// New connects the part to the cluster of one scheduler. Parts are connected in the order of their list. Nothing is watched
	// before Run.
	New func(*Cluster) (*Instance, error)
}

// Stateless is the Part of a plugin that shares nothing.
func Stateless(name string, factory frameworkruntime.PluginFactory) Part {
	return Part{Name: name, New: func(*Cluster) (*Instance, error) {
		return &Instance{Name: name, Factory: factory}, nil
	}}
}

// Explain explains an object. One that does not exist is a NotFound error.
type Explain = func(ctx context.Context, namespace, name string) (any, error)

// Instance is a Part of one scheduler. All fields but Name and Factory may be empty. They are listed in the order in which the
// scheduler uses them.
type Instance struct {
	// Name of the plugin.
	Name string
	// State that the plugins of all profiles share; Find looks for it.
	State any
	// Factory makes the plugin of one profile.
	Factory frameworkruntime.PluginFactory
	// Watches are the custom resources whose changes may make pods schedulable, with the informers that the plugin uses.
	Watches map[schema.GroupVersionResource]cache.SharedIndexInformer
	// Seams change kube-scheduler where the plugin API does not reach.
	Seams frameworkext.Seams
	// Simulate makes what explanations run in the place of Factory and State.
	Simulate func() Simulation
	// View returns the state for one explanation, with nothing supposed yet.
	View func() View
	// Controllers write what the plugin decided, apart from pods. They run on the leader only.
	Controllers func(*Controllers) ([]func(context.Context), error)
	// Services are endpoints below /apis/v1/plugins beside those of the plugin itself.
	Services []services.Provider
	// Explains answers questions about objects of its own, by their kind in lower case.
	Explains map[string]Explain
	// Run watches until the context ends.
	Run func(context.Context)
	// Settled is false as long as objects are not known without which pods would be placed wrongly.
	Settled func() bool
	// Changes counts what may change the answer of an explanation; it never repeats.
	Changes func() uint64
	// Contents is what the state holds when the nodes are as given, by what it is about. Two schedulers that know the same cluster
	// have equal contents.
	Contents func(nodes []fwk.NodeInfo) map[string]any
	// Discard ends what New started, for a scheduler that never runs. It does nothing after Run.
	Discard func()
}
