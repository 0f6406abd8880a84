package enforcement

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// unreadGrace is how long an agent that was just started may take to read the node's objects.
const unreadGrace = 30 * time.Second

// Facts are what an agent knows of itself. The zero value is one that enforces.
type Facts struct {
	// ReadOnly says that it was told to write nothing.
	ReadOnly bool
	// OriginalsUnread is why it cannot read what was there before an earlier agent, and OriginalsUnsaved why it cannot keep what is
	// there before it; empty when it can.
	OriginalsUnread, OriginalsUnsaved string
	// CgroupsReadOnly is where cgroups are mounted that cannot be written at all; empty when they can.
	CgroupsReadOnly string
	// Features that protect services, with what became of their values.
	Features []Feature
	// Unread is since how long the agent has run without having read the node's objects, NodeSLO among them; zero once it has.
	Unread time.Duration
}

// Feature is what became of the values of a feature that protects services.
type Feature struct {
	Name string
	// Whole says that the values are those of all best-effort pods together, so that each of them counts.
	Whole bool
	// Wanted values, and those of them that the kernel refused several times in a row.
	Wanted, Refused int
	// Err is the kernel's answer to one of them.
	Err string
}

// Verdict says whether an agent enforces, by the reason of the condition, and in words.
type Verdict struct {
	Enforcing       bool
	Reason, Message string
}

// Decide says whether an agent enforces. What makes most of its work impossible comes first.
//
// A feature does not protect when a value for all best-effort pods together is refused, or more than half of those of single pods:
// single cgroups may be odd, and what is refused of those is a problem of the feature, not of the agent.
func Decide(f Facts) Verdict {
	switch {
	case f.ReadOnly:
		return Verdict{false, slov1alpha1.ReasonReadOnly, "koordlet was started with --read-only and writes no cgroup"}
	case f.OriginalsUnread != "":
		return Verdict{false, slov1alpha1.ReasonOriginalsUnreadable, f.OriginalsUnread}
	case f.OriginalsUnsaved != "":
		return Verdict{false, slov1alpha1.ReasonOriginalsNotSaved, f.OriginalsUnsaved}
	case f.CgroupsReadOnly != "":
		return Verdict{false, slov1alpha1.ReasonWritesRefused, "cgroups at " + f.CgroupsReadOnly + " are mounted read-only"}
	}
	for _, feature := range f.Features {
		if feature.Whole && feature.Refused > 0 || 2*feature.Refused > feature.Wanted {
			return Verdict{false, slov1alpha1.ReasonWritesRefused, fmt.Sprintf("the kernel refuses %d of the %d values of %s: %s",
				feature.Refused, feature.Wanted, feature.Name, feature.Err)}
		}
	}
	if f.Unread > unreadGrace {
		return Verdict{false, slov1alpha1.ReasonObjectsUnread, "koordlet has not read the node's objects since it was started"}
	}
	return Verdict{true, slov1alpha1.ReasonEnforcing, "koordlet can limit best-effort pods"}
}

// maxMessage is what the API server takes of the message of a condition.
const maxMessage = 32 << 10

// Condition is the verdict as the NodeMetric carries it. LastTransitionTime is left to who sets it.
func (v Verdict) Condition() metav1.Condition {
	out := metav1.Condition{Type: slov1alpha1.NodeMetricEnforcing, Status: metav1.ConditionTrue, Reason: v.Reason, Message: v.Message}
	if !v.Enforcing {
		out.Status = metav1.ConditionFalse
	}
	if len(out.Message) > maxMessage {
		out.Message = out.Message[:maxMessage]
	}
	return out
}

// Told is the verdict that a NodeMetric carries, and false where its agent does not tell: it is of another version, or the cluster's
// definition of NodeMetric does not know conditions.
func Told(metric *slov1alpha1.NodeMetric) (Verdict, bool) {
	if metric == nil {
		return Verdict{}, false
	}
	for i := range metric.Status.Conditions {
		condition := &metric.Status.Conditions[i]
		if condition.Type == slov1alpha1.NodeMetricEnforcing && condition.Status != metav1.ConditionUnknown {
			return Verdict{condition.Status != metav1.ConditionFalse, condition.Reason, condition.Message}, true
		}
	}
	return Verdict{}, false
}
