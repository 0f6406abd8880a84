package part

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

// Simulation is a part in one profile of the explanations: a second plugin, which reads the View that it is shown.
type Simulation struct {
	// Factory makes the plugin. It must not write to what the scheduler reads.
	Factory frameworkruntime.PluginFactory
	// Show has the plugin read a View of the same part from now on. It is not called while the plugin runs.
	Show func(View)
}

// NewSimulation returns the Simulation of a part whose Views are of type T.
func NewSimulation[T View](factory frameworkruntime.PluginFactory, show func(T)) Simulation {
	return Simulation{Factory: factory, Show: func(view View) {
		if typed, ok := view.(T); ok {
			show(typed)
		}
	}}
}

// View is the state of a part as one explanation supposes it. It follows the changes that are tried by implementing those of
// the interfaces below that concern it; a change that it does not implement leaves it as it is. Views are not changed, except by
// PodPlacer.Place: each change returns another View. Reading is safe for concurrent use.
type View any

// PodRemover is a View that knows pods on nodes.
type PodRemover interface {
	// WithoutPod supposes that a pod has left its node. The NodeInfo is a copy without the pod, which may be changed.
	WithoutPod(pod *corev1.Pod, node fwk.NodeInfo) (View, error)
}

// PodEditor is a View that knows pending pods.
type PodEditor interface {
	// WithPod puts a pending pod in the place of the one with its UID.
	WithPod(pod *corev1.Pod) View
}

// PodPlacer is a View on which pods are placed one after the other.
type PodPlacer interface {
	// Fork returns a View of the caller's own.
	Fork() PodPlacer
	// Place counts a pod on the node in its spec, in this View itself.
	Place(pod *corev1.Pod, at time.Time)
}

// Retrier is a View that holds pods back because others were refused a moment ago.
type Retrier interface {
	// Retrying supposes that those that hold the pod back were not refused; false when the pod is none of its concern.
	Retrying(pod *corev1.Pod) (View, bool)
}

// NodeAdder is a View of something that is reported by the agent of each node.
type NodeAdder interface {
	// WithNode adds a node on which nothing runs, whose agent reports at a time what the agent of another node does.
	WithNode(node *corev1.Node, like string, at time.Time) View
}

// NodeDescriber is a View in which nodes differ although their objects are alike.
type NodeDescriber interface {
	// DescribeNode returns a text that is the same for nodes on which pods find the same when they are empty.
	DescribeNode(name string) string
}

// ObjectReplacer is a View of custom resources.
type ObjectReplacer interface {
	// WithObject puts an object in the place of the one with its name; false when it is of another kind.
	WithObject(object any) (View, bool)
}
