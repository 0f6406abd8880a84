package reservation

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"koordinator.sh/koord/api/extension"
)

// Demand is what a pod says about reservations, compiled once per scheduling cycle. It is read-only.
type Demand struct {
	Pod *corev1.Pod
	// Requests of the pod.
	Requests Amounts
	// Required is true when the pod must use a reservation.
	Required bool
	// Ignored is true when the pod may take room from any reservation without becoming a user of one.
	Ignored bool
	// name of the only reservation wanted; empty for any.
	name        string
	labels      labels.Set
	terms       []term
	tolerations []corev1.Toleration
	exact       []corev1.ResourceName
	// requested are the names of Requests in a fixed order.
	requested []corev1.ResourceName
}

func (d *Demand) names() []corev1.ResourceName {
	if d.requested == nil {
		return d.Requests.names()
	}
	return d.requested
}

// term is one of several alternatives: requirements of labels and of the name.
type term struct{ labels, fields labels.Selector }

// NewDemand reads a pod. An annotation that cannot be read is an error: the pod must not be placed as if it had none.
func NewDemand(pod *corev1.Pod) (*Demand, error) {
	demand := &Demand{Pod: pod, Requests: RequestsOf(pod), Ignored: extension.IsReservationIgnored(pod.Labels)}
	demand.requested = demand.Requests.names()
	demand.Required = pod.Labels[extension.LabelPreAllocationRequired] == "true"
	exact, err := extension.GetExactMatchReservation(pod.Annotations)
	if err != nil {
		return nil, err
	}
	if exact != nil {
		demand.exact = exact.ResourceNames
	}
	affinity, err := extension.GetReservationAffinity(pod.Annotations)
	if err != nil || affinity == nil {
		return demand, err
	}
	demand.name, demand.labels, demand.tolerations = affinity.Name, affinity.ReservationSelector, affinity.Tolerations
	if required := affinity.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
		if demand.terms, err = compileTerms(required.ReservationSelectorTerms); err != nil {
			return nil, fmt.Errorf("annotation %q: %w", extension.AnnotationReservationAffinity, err)
		}
		demand.Required = true
	}
	demand.Required = demand.Required || demand.name != "" || len(demand.labels) > 0
	return demand, nil
}

// Concerns reports, without allocating, whether a pod says anything about reservations.
func Concerns(pod *corev1.Pod) bool {
	return pod.Annotations[extension.AnnotationReservationAffinity] != "" || pod.Annotations[extension.AnnotationExactMatchReservation] != "" ||
		pod.Labels[extension.LabelReservationIgnored] == "true" || pod.Labels[extension.LabelPreAllocationRequired] == "true"
}

// compileTerms keeps what Kubernetes makes of node selector terms: an empty term matches nothing, no terms match nothing.
func compileTerms(given []corev1.NodeSelectorTerm) ([]term, error) {
	terms := []term{}
	for i, alternative := range given {
		if len(alternative.MatchExpressions) == 0 && len(alternative.MatchFields) == 0 {
			continue
		}
		byLabels, err := compileRequirements(alternative.MatchExpressions)
		if err != nil {
			return nil, fmt.Errorf("reservationSelectorTerms[%d].matchExpressions: %w", i, err)
		}
		byFields, err := compileRequirements(alternative.MatchFields)
		if err != nil {
			return nil, fmt.Errorf("reservationSelectorTerms[%d].matchFields: %w", i, err)
		}
		terms = append(terms, term{byLabels, byFields})
	}
	return terms, nil
}

var operators = map[corev1.NodeSelectorOperator]selection.Operator{
	corev1.NodeSelectorOpIn: selection.In, corev1.NodeSelectorOpNotIn: selection.NotIn, corev1.NodeSelectorOpExists: selection.Exists,
	corev1.NodeSelectorOpDoesNotExist: selection.DoesNotExist, corev1.NodeSelectorOpGt: selection.GreaterThan, corev1.NodeSelectorOpLt: selection.LessThan,
}

func compileRequirements(given []corev1.NodeSelectorRequirement) (labels.Selector, error) {
	selector := labels.NewSelector()
	for i, requirement := range given {
		operator, known := operators[requirement.Operator]
		if !known {
			return nil, fmt.Errorf("[%d].operator: unknown operator %.40q", i, string(requirement.Operator))
		}
		compiled, err := labels.NewRequirement(requirement.Key, operator, requirement.Values)
		if err != nil {
			return nil, fmt.Errorf("[%d]: %w", i, err)
		}
		selector = selector.Add(*compiled)
	}
	return selector, nil
}

// selects reports whether the affinity's selectors match a reservation.
func (d *Demand) selects(r *Reservation) bool {
	if len(d.labels) > 0 && !d.labels.AsSelector().Matches(r.Labels) {
		return false
	}
	if d.terms == nil {
		return true
	}
	for _, alternative := range d.terms {
		if alternative.labels.Matches(r.Labels) && alternative.fields.Matches(labels.Set{"metadata.name": r.Name}) {
			return true
		}
	}
	return false
}

// untolerated returns the first taint that keeps the pod away, nil when there is none.
func (d *Demand) untolerated(taints []corev1.Taint) *corev1.Taint {
	for i := range taints {
		if taint := &taints[i]; taint.Effect != corev1.TaintEffectPreferNoSchedule && !d.tolerates(taint) {
			return taint
		}
	}
	return nil
}

func (d *Demand) tolerates(taint *corev1.Taint) bool {
	for i := range d.tolerations {
		if tolerates(&d.tolerations[i], taint) {
			return true
		}
	}
	return false
}

func tolerates(toleration *corev1.Toleration, taint *corev1.Taint) bool {
	if toleration.Effect != "" && toleration.Effect != taint.Effect || toleration.Key != "" && toleration.Key != taint.Key {
		return false
	}
	switch toleration.Operator {
	case corev1.TolerationOpExists:
		return true
	case corev1.TolerationOpEqual, "":
		return toleration.Key != "" && toleration.Value == taint.Value
	case corev1.TolerationOpGt, corev1.TolerationOpLt:
		bound, err := strconv.ParseInt(toleration.Value, 10, 64)
		value, valueErr := strconv.ParseInt(taint.Value, 10, 64)
		if err != nil || valueErr != nil {
			return false
		}
		return toleration.Operator == corev1.TolerationOpGt && value > bound || toleration.Operator == corev1.TolerationOpLt && value < bound
	}
	return false
}
