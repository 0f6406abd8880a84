package colocationprofile

import (
	"cmp"
	"math"
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	configv1alpha1 "koordinator.sh/koord/api/config/v1alpha1"
)

// Unapplied is a profile that would have named another scheduler for a pod that exists, and why it did not.
type Unapplied struct {
	Profile string `json:"profile"`
	// SchedulerName that the profile gives.
	SchedulerName string  `json:"schedulerName"`
	Outcome       Outcome `json:"outcome"`
	// Reason in a few words, also for a profile whose Outcome is Applied: it selects the pod now, and did not when that was created.
	Reason string `json:"reason"`
	// NamespaceLabel is the one that the namespace has to have where nothing else is missing; empty where that is not so.
	NamespaceLabel string `json:"namespaceLabel,omitempty"`
	// unmet counts the requirements that the pod and its namespace do not meet.
	unmet int
}

// WithoutScheduler returns the profiles that name a scheduler and did not name it for the pod, those first that came closest. They are
// matched as Decide matches them.
func WithoutScheduler(in Input) []Unapplied {
	var out []Unapplied
	for _, profile := range ByName(in.Profiles) {
		if name := profile.Spec.SchedulerName; name == "" || name == in.Pod.Spec.SchedulerName {
			continue
		}
		found := Unapplied{Profile: profile.Name, SchedulerName: profile.Spec.SchedulerName}
		if found.Outcome, found.Reason = selects(profile, &in); found.Outcome == Applied {
			found.Outcome, found.Reason = draw(profile, in.Chance)
		}
		if found.Outcome == Applied {
			found.Reason = "the profile selects the pod now, but profiles set the scheduler only when a pod is created"
		}
		found.measure(profile, &in)
		out = append(out, found)
	}
	slices.SortStableFunc(out, func(a, b Unapplied) int { return cmp.Compare(a.unmet, b.unmet) })
	return out
}

// measure counts what is not met, and finds the label that alone is missing.
func (u *Unapplied) measure(profile *configv1alpha1.ClusterColocationProfile, in *Input) {
	selectors, err := SelectorsOf(profile)
	if err != nil || u.Outcome == Exempt {
		u.unmet = math.MaxInt // no label of the pod or its namespace would help
		return
	}
	namespace, pod := failing(selectors.Namespace, in.NamespaceLabels), failing(selectors.Pod, in.Pod.Labels)
	u.unmet = len(namespace) + len(pod)
	if len(namespace) == 1 && len(pod) == 0 && namespace[0].Values().Len() > 0 && !namespace[0].Matches(labels.Set{}) {
		u.NamespaceLabel = namespace[0].Key() + "=" + slices.Min(namespace[0].Values().UnsortedList())
	}
}

func failing(list labels.Requirements, set map[string]string) labels.Requirements {
	return slices.DeleteFunc(slices.Clone(list), func(r labels.Requirement) bool { return r.Matches(labels.Set(set)) })
}
