package loopguard

import (
	"cmp"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
)

// Rule names what two thresholds violate.
type Rule string

// The rules.
const (
	// LowNotBelowHigh: a node would be underutilized and overutilized at once.
	LowNotBelowHigh Rule = "LowNotBelowHigh"
	// SchedulerAboveHigh: the scheduler fills nodes that the descheduler empties.
	SchedulerAboveHigh Rule = "SchedulerAboveHigh"
	// SchedulerNotAboveLow: the scheduler refuses the nodes for which the descheduler evicts.
	SchedulerNotAboveLow Rule = "SchedulerNotAboveLow"
	// AgentBelowHigh: the descheduler fills nodes up to where the agent evicts.
	AgentBelowHigh Rule = "AgentBelowHigh"
	// AgentBelowScheduler: the scheduler fills nodes up to where the agent evicts.
	AgentBelowScheduler Rule = "AgentBelowScheduler"
	// NoRoomForTargets: the margin leaves no node that could be a target.
	NoRoomForTargets Rule = "NoRoomForTargets"
	// SuppressAboveHigh: pods are moved before best-effort pods are held back.
	SuppressAboveHigh Rule = "SuppressAboveHigh"
)

// The names of components in messages and operands, before their settings. Those of the descheduler are the names of its plugins.
const (
	schedulerName = "LoadAwareScheduling"
	// AgentName is the key of slo-controller-config that has the agent's thresholds.
	AgentName = "resource-threshold-config"
)

// Violation is two thresholds that do not go together.
type Violation struct {
	Rule     Rule                `json:"rule"`
	Code     finding.Code        `json:"code"`
	Resource corev1.ResourceName `json:"resource"`
	// Message compares the two in one sentence; Cause says what follows, and Fix what to change.
	Message string `json:"message"`
	Cause   string `json:"cause"`
	Fix     string `json:"fix"`
	// Operands are the two, in the order of the message.
	Operands []diagnosticsv1alpha1.Term `json:"operands"`
	// Places are where they are set.
	Places [2]Place `json:"-"`
}

// Owner is the component whose configuration has a threshold.
type Owner string

// The owners.
const (
	OwnerAgent       Owner = "agent"
	OwnerScheduler   Owner = "scheduler"
	OwnerDescheduler Owner = "descheduler"
)

// Place is where a threshold is set.
type Place struct {
	Owner Owner
	// Path of the threshold: below resource-threshold-config for the agent, with the plugin before it for the others.
	Path string
	// Percent is its value.
	Percent float64
}

// operand is one threshold with the place where it is set.
type operand struct {
	component, path string
	percent         float64
	set             bool
}

func (o operand) String() string { return o.component + "." + o.path }

func (o operand) term() diagnosticsv1alpha1.Term {
	return diagnosticsv1alpha1.Term{Name: o.String(), Operator: diagnosticsv1alpha1.Info, Value: int64(o.percent), Unit: diagnosticsv1alpha1.Percent}
}

func (o operand) place() Place {
	switch o.component {
	case AgentName:
		return Place{Owner: OwnerAgent, Path: o.path, Percent: o.percent}
	case schedulerName:
		return Place{Owner: OwnerScheduler, Path: o.String(), Percent: o.percent}
	}
	return Place{Owner: OwnerDescheduler, Path: o.String(), Percent: o.percent}
}

func (d *Descheduler) component() string {
	name := cmp.Or(d.Plugin, "LowNodeLoad")
	if d.Pool != "" {
		name += ".nodePools[" + d.Pool + "]"
	}
	return name
}

func violation(rule Rule, code finding.Code, name corev1.ResourceName, a operand, relation string, b operand, cause, fix string) Violation {
	return Violation{
		Rule: rule, Code: code, Resource: name, Cause: cause, Fix: fix,
		Message:  fmt.Sprintf("%s (%s%%) %s %s (%s%%)", a, number(a.percent), relation, b, number(b.percent)),
		Operands: []diagnosticsv1alpha1.Term{a.term(), b.term()}, Places: [2]Place{a.place(), b.place()},
	}
}

func number(percent float64) string { return strconv.FormatFloat(percent, 'f', -1, 64) }
