package scenario

import (
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Colocation is the scenario in which services and batch work share the nodes.
const Colocation = "colocation"

// Skewed is the scenario in which a few nodes are overutilized and the others idle.
const Skewed = "skewed"

// Wave is a set of objects that may be created together.
type Wave struct {
	Objects []runtime.Object
	// AwaitBound is a label selector: the next wave comes when a pod it selects is bound. Empty for not waiting.
	AwaitBound string
	// Namespace of the pods to wait for.
	Namespace string
	// OnlyOn are the names of the nodes that take pods while the wave is created: the other simulated nodes are cordoned until every
	// pod that AwaitBound selects is bound. Empty for all nodes.
	OnlyOn []string
}

// Replicas is the number of pods of the wave's Deployments.
func (w Wave) Replicas() int {
	total := 0
	for _, object := range w.Objects {
		if deployment, ok := object.(*appsv1.Deployment); ok {
			total += int(*deployment.Spec.Replicas)
		}
	}
	return total
}

// scenarios makes the waves of each scenario: the objects of a later one need those of an earlier.
var scenarios = map[string]func(nodes int) []Wave{
	Colocation: colocation,
	Skewed:     skewed,
}

// Names returns the scenarios there are, sorted.
func Names() []string { return slices.Sorted(maps.Keys(scenarios)) }

// Workloads returns a scenario's waves for a sandbox of so many nodes.
func Workloads(name string, nodes int) ([]Wave, error) {
	waves, ok := scenarios[name]
	if !ok {
		return nil, fmt.Errorf("unknown scenario %q, must be one of %v", name, Names())
	}
	return waves(nodes), nil
}

func namespace(name string) *corev1.Namespace {
	return &corev1.Namespace{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
		ObjectMeta: metav1.ObjectMeta{Name: name},
	}
}
