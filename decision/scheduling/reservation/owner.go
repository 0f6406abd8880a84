package reservation

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// Owner is one entry of the owners of a reservation: all that is set must match.
type Owner struct {
	object     *corev1.ObjectReference
	controller *schedulingv1alpha1.ReservationControllerReference
	selector   labels.Selector
}

// compileOwners leaves out entries that cannot be read and those that name no owner.
func compileOwners(name string, given []schedulingv1alpha1.ReservationOwner, problems []error) ([]Owner, []error) {
	owners := make([]Owner, 0, len(given))
	for i, entry := range given {
		owner := Owner{object: entry.Object, controller: entry.Controller}
		if entry.LabelSelector != nil {
			selector, err := metav1.LabelSelectorAsSelector(entry.LabelSelector)
			if err != nil {
				problems = append(problems, fmt.Errorf("reservation %s: owners[%d].labelSelector: %w", name, i, err))
				continue
			}
			owner.selector = selector
		}
		if owner.object != nil || owner.controller != nil || owner.selector != nil {
			owners = append(owners, owner)
		}
	}
	return owners, problems
}

// Matches reports whether a pod is this owner.
func (o *Owner) Matches(pod *corev1.Pod) bool {
	return (o.object == nil || isObject(o.object, pod)) &&
		(o.controller == nil || isControlledBy(o.controller, pod)) &&
		(o.selector == nil || o.selector.Matches(labels.Set(pod.Labels)))
}

func isObject(reference *corev1.ObjectReference, pod *corev1.Pod) bool {
	return (reference.UID == "" || reference.UID == pod.UID) && (reference.Name == "" || reference.Name == pod.Name) &&
		(reference.Namespace == "" || reference.Namespace == pod.Namespace) && (reference.Kind == "" || reference.Kind == "Pod")
}

func isControlledBy(reference *schedulingv1alpha1.ReservationControllerReference, pod *corev1.Pod) bool {
	if reference.Namespace != "" && reference.Namespace != pod.Namespace {
		return false
	}
	return slices.ContainsFunc(pod.OwnerReferences, func(owner metav1.OwnerReference) bool {
		controls := reference.Controller == nil || (owner.Controller != nil && *owner.Controller) == *reference.Controller
		return controls && (reference.UID == "" || reference.UID == owner.UID) && (reference.Name == "" || reference.Name == owner.Name) &&
			(reference.Kind == "" || reference.Kind == owner.Kind) && (reference.APIVersion == "" || reference.APIVersion == owner.APIVersion)
	})
}

// MatchesOwner reports whether a pod is one of the owners.
func (r *Reservation) MatchesOwner(pod *corev1.Pod) bool {
	return slices.ContainsFunc(r.Owners, func(owner Owner) bool { return owner.Matches(pod) })
}

// Key groups reservations by something that every pod of an owner must have, so that a pod is held against few of them.
type Key struct{ kind, name, value string }

// Any is the key of owners of which nothing can be said in advance.
var Any = Key{kind: "any"}

// Keys returns the keys under which a reservation must be found: a pod that matches an owner has one of them, or it is Any.
func (r *Reservation) Keys() []Key {
	var keys []Key
	for i := range r.Owners {
		keys = append(keys, r.Owners[i].keys()...)
	}
	return keys
}

// keys of one owner, by the most telling thing that it demands.
func (o *Owner) keys() []Key {
	switch {
	case o.object != nil && o.object.UID != "":
		return []Key{{"pod", "uid", string(o.object.UID)}}
	case o.object != nil && o.object.Name != "":
		return []Key{{"pod", "name", o.object.Name}}
	case o.controller != nil && o.controller.UID != "":
		return []Key{{"controller", "uid", string(o.controller.UID)}}
	case o.controller != nil && o.controller.Name != "":
		return []Key{{"controller", "name", o.controller.Name}}
	case o.selector != nil:
		return selectorKeys(o.selector)
	}
	return []Key{Any}
}

// selectorKeys takes the requirement with the fewest values that a label must have.
func selectorKeys(selector labels.Selector) []Key {
	requirements, _ := selector.Requirements()
	best := []Key{Any}
	for _, requirement := range requirements {
		switch requirement.Operator() {
		case selection.In, selection.Equals, selection.DoubleEquals:
		default:
			continue
		}
		values := requirement.Values().List()
		if best[0] != Any && len(values) >= len(best) {
			continue
		}
		best = make([]Key, 0, len(values))
		for _, value := range values {
			best = append(best, Key{"label", requirement.Key(), value})
		}
	}
	return best
}

// KeysOf calls yield for every key that a pod has, Any included.
func KeysOf(pod *corev1.Pod, yield func(Key)) {
	yield(Any)
	yield(Key{"pod", "uid", string(pod.UID)})
	yield(Key{"pod", "name", pod.Name})
	for i := range pod.OwnerReferences {
		yield(Key{"controller", "uid", string(pod.OwnerReferences[i].UID)})
		yield(Key{"controller", "name", pod.OwnerReferences[i].Name})
	}
	for name, value := range pod.Labels {
		yield(Key{"label", name, value})
	}
}
