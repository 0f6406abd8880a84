package gang

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1alpha2 "k8s.io/api/scheduling/v1alpha2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
)

// Key names a gang.
type Key = types.NamespacedName

// maxGroup bounds the gangs of a group: every decision on a member looks at all of them.
const maxGroup = 256

// Source is where a gang's rules come from.
type Source string

const (
	// FromPodGroup is a PodGroup of scheduling.sigs.k8s.io.
	FromPodGroup Source = "PodGroup"
	// FromPods are annotations, or deprecated labels, of the oldest member.
	FromPods Source = "annotations"
	// FromNative is a PodGroup of scheduling.k8s.io.
	FromNative Source = "native PodGroup"
)

// Defaults for gangs that do not say.
type Defaults struct {
	WaitTime    time.Duration
	MatchPolicy extension.GangMatchPolicy
}

// Spec are the rules of one gang.
type Spec struct {
	Key    Key
	Source Source
	// MinMember is how many members must run together, at least 1; 0 when that cannot be read, and then no member is tried.
	MinMember int32
	// TotalMember is how many members there will be, at least MinMember.
	TotalMember int32
	Mode        extension.GangMode
	MatchPolicy extension.GangMatchPolicy
	// WaitTime is how long a member that found a node waits for the others.
	WaitTime time.Duration
	// Group holds the gangs that start together, in order, this one among them.
	Group []Key
	// GroupID names the group: its gangs, with commas between.
	GroupID string
	// Topology says how close together the members must be; nil when it does not matter.
	Topology *extension.NetworkTopologySpec
	// Ran is true when the object's own status says that the gang ran.
	Ran bool
	// Created is when the gang, or its first member, was created.
	Created time.Time
	// Err is what cannot be read; defaults stand for it.
	Err error

	// author is the member that brought the rules.
	author *corev1.Pod
}

// KeyOf returns the gang that a pod belongs to; false for a pod without one. A pod of a native PodGroup that has no key of
// its own belongs to the gang with that name.
func KeyOf(pod *corev1.Pod) (Key, bool) {
	if name := extension.GangName(pod); name != "" {
		return Key{Namespace: pod.Namespace, Name: name}, true
	}
	if group := pod.Spec.SchedulingGroup; group != nil && group.PodGroupName != nil {
		return Key{Namespace: pod.Namespace, Name: *group.PodGroupName}, true
	}
	return Key{}, false
}

// FromGroup reads the rules of a PodGroup.
func FromGroup(group *schedulingsigsv1alpha1.PodGroup, defaults Defaults) *Spec {
	spec := annotated(Key{Namespace: group.Namespace, Name: group.Name}, group, defaults)
	spec.Source = FromPodGroup
	if seconds := group.Spec.ScheduleTimeoutSeconds; seconds != nil && *seconds > 0 {
		spec.WaitTime = time.Duration(*seconds) * time.Second
	}
	switch group.Status.Phase {
	case schedulingsigsv1alpha1.PodGroupScheduled, schedulingsigsv1alpha1.PodGroupRunning, schedulingsigsv1alpha1.PodGroupFinished:
		spec.Ran = true
	}
	return spec.bounded(group.Spec.MinMember)
}

// FromPod reads the rules that a member brings in annotations or deprecated labels; nil when its gang is a PodGroup.
func FromPod(pod *corev1.Pod, defaults Defaults) *Spec {
	if pod.Labels[extension.LabelPodGroup] != "" {
		return nil
	}
	name := extension.GangName(pod)
	if name == "" {
		return nil // a native PodGroup
	}
	spec := annotated(Key{Namespace: pod.Namespace, Name: name}, pod, defaults)
	spec.Source = FromPods
	minimum, err := extension.GangMinAvailable(pod)
	spec.Err = errors.Join(spec.Err, err)
	return spec.bounded(minimum)
}

// FromNativeGroup reads the rules of a native PodGroup. One with the basic policy has members that do not wait.
func FromNativeGroup(group *schedulingv1alpha2.PodGroup, defaults Defaults) *Spec {
	spec := annotated(Key{Namespace: group.Namespace, Name: group.Name}, group, defaults)
	spec.Source = FromNative
	minimum := int32(1)
	if policy := group.Spec.SchedulingPolicy.Gang; policy != nil {
		minimum = policy.MinCount
	}
	return spec.bounded(minimum)
}

// annotated reads what PodGroups and pods say in the same way.
func annotated(key Key, object metav1.Object, defaults Defaults) *Spec {
	annotations := object.GetAnnotations()
	total, totalErr := extension.GangTotalNumber(annotations)
	wait, waitErr := extension.GangWaitingTime(annotations)
	groups, groupErr := groupOf(key, annotations)
	topology, topologyErr := extension.GetNetworkTopologySpec(annotations)
	return &Spec{
		Key: key, TotalMember: total, Mode: extension.GangModeOf(annotations), MatchPolicy: policyOf(annotations, defaults),
		WaitTime: cmp.Or(wait, defaults.WaitTime), Group: groups, GroupID: joined(groups), Topology: topology, Created: object.GetCreationTimestamp().Time,
		Err: errors.Join(totalErr, waitErr, groupErr, topologyErr),
	}
}

func (s *Spec) bounded(minimum int32) *Spec {
	if minimum < 1 {
		s.Err = errors.Join(s.Err, fmt.Errorf("gang %s: the minimum number of members is %d, want at least 1", s.Key, minimum))
	}
	s.MinMember = max(minimum, 0)
	s.TotalMember = max(s.TotalMember, s.MinMember)
	return s
}

func policyOf(annotations map[string]string, defaults Defaults) extension.GangMatchPolicy {
	value := cmp.Or(annotations[extension.AnnotationGangMatchPolicy], annotations[extension.AnnotationAliasGangMatchPolicy])
	if policy := extension.GangMatchPolicy(value); knownPolicy(policy) {
		return policy
	}
	return defaults.MatchPolicy
}

func knownPolicy(policy extension.GangMatchPolicy) bool {
	switch policy {
	case extension.GangMatchPolicyOnceSatisfied, extension.GangMatchPolicyWaitingAndRunning, extension.GangMatchPolicyOnlyWaiting:
		return true
	}
	return false
}

// groupOf reads the group of a gang, which it is always a part of. A list that cannot be read leaves the gang alone, and is
// an error.
func groupOf(key Key, annotations map[string]string) ([]Key, error) {
	names, err := extension.GetGangGroups(annotations)
	if err != nil {
		return []Key{key}, err
	}
	group := []Key{key}
	for _, name := range names {
		namespace, gang, found := strings.Cut(name, "/")
		if !found || namespace == "" || gang == "" || len(group) >= maxGroup {
			return []Key{key}, fmt.Errorf("gang %s: %.40q in its group of %d is not one of at most %d names with a namespace", key, name, len(names), maxGroup)
		}
		group = append(group, Key{Namespace: namespace, Name: gang})
	}
	slices.SortFunc(group, compareKeys)
	return slices.Compact(group), nil
}

func joined(group []Key) string {
	names := make([]string, len(group))
	for i, key := range group {
		names[i] = key.String()
	}
	return strings.Join(names, ",")
}

func compareKeys(a, b Key) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// equal is true for the same rules, read from an object that may have changed in other ways.
func (s *Spec) equal(other *Spec) bool {
	return other != nil && s.MinMember == other.MinMember && s.TotalMember == other.TotalMember && s.Mode == other.Mode &&
		s.MatchPolicy == other.MatchPolicy && s.WaitTime == other.WaitTime && s.Ran == other.Ran && slices.Equal(s.Group, other.Group) &&
		reflect.DeepEqual(s.Topology, other.Topology) && (s.Err == nil) == (other.Err == nil)
}
