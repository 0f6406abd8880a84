package loopguard

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Guard keeps the pods of workloads that go in circles where they are. The zero value keeps none. It is safe for concurrent use.
type Guard struct {
	loops []Loop
	// of is the place in loops by the UID of the workload.
	of map[types.UID]int
	// namespaces of the workloads; everywhere is true when one of them is not known.
	namespaces map[string]bool
	everywhere bool
}

// NewGuard finds the workloads that go in circles.
func NewGuard(in History) Guard {
	g := Guard{loops: Detect(in), of: map[types.UID]int{}, namespaces: map[string]bool{}}
	for i := range g.loops {
		loop := &g.loops[i]
		g.of[types.UID(loop.Workload[strings.LastIndex(loop.Workload, "/")+1:])] = i
		known := false
		for _, move := range loop.Moves {
			if namespace, _, named := strings.Cut(move.Pod, "/"); named {
				g.namespaces[namespace], known = true, true
			}
		}
		g.everywhere = g.everywhere || !known
	}
	return g
}

// Loops are the workloads that go in circles, ordered by workload.
func (g Guard) Loops() []Loop { return g.loops }

// Of returns the loop of a workload; nil when it does not go in circles.
func (g Guard) Of(workload types.UID) *Loop {
	if i, found := g.of[workload]; found {
		return &g.loops[i]
	}
	return nil
}

// Concerns is false for a namespace in which no workload goes in circles, so that the workloads of its pods need not be looked up.
func (g Guard) Concerns(namespace string) bool { return g.everywhere || g.namespaces[namespace] }

// Refusal says why no plugin moves the pods of the workload, and until when.
func (l *Loop) Refusal() string {
	return fmt.Sprintf("%s: %s; plugins do not move its pods until %s", l.Code, l.Message, l.Until.UTC().Format(time.RFC3339))
}
