package app

import (
	"fmt"
	"os"
	"runtime/debug"

	"k8s.io/client-go/informers"

	"koordinator.sh/koord/scheduler/informer"
)

// gcPercent is by how many percent the heap may grow before it is collected; Go's default is 100. What the scheduler knows of
// the cluster is most of its heap, and little of it is replaced for a pod, so that collecting sooner costs less than it saves.
const gcPercent = 75

// setGC applies gcPercent, unless the environment variable GOGC says otherwise.
func setGC() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}

// trimNodes drops the managed fields of nodes, which nothing reads, before they are kept. kube-scheduler does so with pods.
func trimNodes(core informers.SharedInformerFactory) error {
	if err := core.Core().V1().Nodes().Informer().SetTransform(informer.Trim); err != nil {
		return fmt.Errorf("trim nodes: %w", err)
	}
	return nil
}
