package qos

import (
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/agent/metrics"
)

// Measured is what was measured beside usage of the node and of pods. A function that is nil, and a second result of false, say
// that nothing was. Containers are named by Container.ID, applications as in the NodeSLO.
type Measured struct {
	// ContainerUsed at the latest reading.
	ContainerUsed func(id string) (metrics.Usage, bool)
	// ContainerThrottled by its CPU quota between the latest two readings.
	ContainerThrottled func(id string) (metrics.Throttling, bool)
	// PodPressure over its latest window, of ten sample periods; a window is new when its To is.
	PodPressure func(types.UID) (metrics.Pressure, bool)
	// BestEffortUsed is what all pods of the class BestEffort use together.
	BestEffortUsed func() (metrics.Usage, bool)
	// ApplicationUsed is what an host application outside Kubernetes uses.
	ApplicationUsed func(name string) (metrics.Usage, bool)
}
