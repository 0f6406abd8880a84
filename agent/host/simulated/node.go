package simulated

import (
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/decision/core/capacity"
	"koordinator.sh/koord/decision/core/podrequest"
)

// staleAge is how old the report of a frozen node is that never made one: older than both the 15 minutes after which
// the manager takes batch resources back and the 3 minutes after which the scheduler distrusts a node.
const staleAge = 20 * time.Minute

// maxFrozenAge bounds how old a report can be made.
const maxFrozenAge = 1000 * time.Hour

// Node is what the simulation knows of a machine.
type Node struct {
	// Name of the node.
	Name string
	// Capacity of the machine.
	Capacity podrequest.Amount
	// HotPercent of the CPU that services are driven up to; 0 leaves them alone.
	HotPercent float64
	// Frozen nodes do not report, but for one report of FrozenAge when that is positive.
	Frozen bool
	// FrozenAge of the one report of a frozen node. StaleOnly restricts it to nodes that never reported.
	FrozenAge time.Duration
	StaleOnly bool
	// Fault makes reports wrong.
	Fault Fault
}

// Fault is a way in which a report can be wrong.
type Fault string

const (
	// FaultNone reports what was measured.
	FaultNone Fault = ""
	// FaultNegative reports a negative CPU use.
	FaultNegative Fault = "negative"
	// FaultAbsurd reports 20 times the node's capacity.
	FaultAbsurd Fault = "absurd"
	// FaultFuture reports as of an hour ahead.
	FaultFuture Fault = "future"
	// FaultUnenforced reports what was measured, and that the agent cannot limit best-effort pods.
	FaultUnenforced Fault = "unenforced"
)

// FromNode reads a node. Annotations that cannot be understood are left out and named in the error, which comes with a
// usable Node.
func FromNode(node *corev1.Node) (Node, error) {
	out := Node{Name: node.Name, Capacity: capacity.Of(node).Total}
	var problems []error
	if text, ok := node.Annotations[AnnotationHotPercent]; ok {
		percent, err := parsePercent(text, 100)
		if err != nil {
			problems = append(problems, fmt.Errorf("annotation %s: %w", AnnotationHotPercent, err))
		}
		out.HotPercent = percent
	}
	if text, ok := node.Annotations[AnnotationFreezeMetrics]; ok {
		if err := out.freeze(text); err != nil {
			problems = append(problems, err)
		}
	}
	if text, ok := node.Annotations[AnnotationReport]; ok {
		switch fault := Fault(text); fault {
		case FaultNegative, FaultAbsurd, FaultFuture, FaultUnenforced:
			out.Fault = fault
		default:
			problems = append(problems, fmt.Errorf("annotation %s: unknown fault %.40q: must be negative, absurd, future or unenforced", AnnotationReport, text))
		}
	}
	if err := errors.Join(problems...); err != nil {
		return out, fmt.Errorf("node %q: %w", node.Name, err)
	}
	return out, nil
}

func (n *Node) freeze(text string) error {
	switch text {
	case "true":
		n.Frozen, n.FrozenAge, n.StaleOnly = true, staleAge, true
		return nil
	case "false", "":
		return nil
	}
	age, err := time.ParseDuration(text)
	if err != nil || age <= 0 || age > maxFrozenAge {
		return fmt.Errorf("annotation %s: %.40q is neither true, false nor a duration up to %s", AnnotationFreezeMetrics, text, maxFrozenAge)
	}
	n.Frozen, n.FrozenAge = true, age
	return nil
}
