package loopguard

import (
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

const (
	schedulerName = "LoadAwareScheduling"
	agentName     = "resource-threshold-config"
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

func (d *Descheduler) component() string {
	if d.Plugin != "" {
		return d.Plugin
	}
	return "LowNodeLoad"
}

func violation(rule Rule, code finding.Code, name corev1.ResourceName, a operand, relation string, b operand, cause, fix string) Violation {
	return Violation{
		Rule: rule, Code: code, Resource: name, Cause: cause, Fix: fix,
		Message:  fmt.Sprintf("%s (%s%%) %s %s (%s%%)", a, number(a.percent), relation, b, number(b.percent)),
		Operands: []diagnosticsv1alpha1.Term{a.term(), b.term()},
	}
}

func number(percent float64) string { return strconv.FormatFloat(percent, 'f', -1, 64) }
