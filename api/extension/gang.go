package extension

import (
	"fmt"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// Keys of gangs: pods that are scheduled together.
const (
	// LabelPodGroup names the PodGroup of a pod.
	LabelPodGroup = "pod-group.scheduling.sigs.k8s.io"
	// DeprecatedLabelPodGroupName names the gang of a pod.
	DeprecatedLabelPodGroupName = LabelPodGroup + "/name"
	// DeprecatedLabelPodGroupMinAvailable is the number of members that must run together.
	DeprecatedLabelPodGroupMinAvailable = LabelPodGroup + "/min-available"

	// AnnotationGangName names the gang of a pod.
	AnnotationGangName = GangDomainPrefix + "name"
	// AnnotationGangMinAvailable is the number of members that must run together.
	AnnotationGangMinAvailable = GangDomainPrefix + "min-available"
	// AnnotationGangTotalNumber is the number of members; min-available by default.
	AnnotationGangTotalNumber = GangDomainPrefix + "total-number"
	// AnnotationGangWaitingTime is how long members wait for each other, a Go duration.
	AnnotationGangWaitingTime = GangDomainPrefix + "waiting-time"
	// AnnotationGangTimeout is set by the scheduler of upstream on members whose wait timed out. No component reads it yet.
	AnnotationGangTimeout = GangDomainPrefix + "timeout"
	// AnnotationGangMode is Strict, the default, or NonStrict.
	AnnotationGangMode = GangDomainPrefix + "mode"
	// AnnotationGangGroups is a JSON list of gangs, "namespace/name" each, that start together.
	AnnotationGangGroups = GangDomainPrefix + "groups"
	// AnnotationGangMatchPolicy says which members count towards min-available.
	AnnotationGangMatchPolicy = GangDomainPrefix + "match-policy"
	// AnnotationAliasGangMatchPolicy is read when AnnotationGangMatchPolicy is absent.
	AnnotationAliasGangMatchPolicy = LabelPodGroup + "/match-policy"
	// AnnotationGangNetworkTopologySpec says how close in the network the members must be.
	AnnotationGangNetworkTopologySpec = GangDomainPrefix + "network-topology-spec"
	// AnnotationGangNetworkTopologyIndex is the rank of a member.
	AnnotationGangNetworkTopologyIndex = GangDomainPrefix + "network-topology-index"

	// AnnotationBindGangGroupID and AnnotationBindGangMemberCount are written when a gang is bound.
	AnnotationBindGangGroupID     = InternalSchedulingDomainPrefix + "bind-gang-group-id"
	AnnotationBindGangMemberCount = InternalSchedulingDomainPrefix + "bind-gang-member-count"
	// DeprecatedAnnotationBindGangGroupID and its count are written next to their successors.
	DeprecatedAnnotationBindGangGroupID     = SchedulingDomainPrefix + "bind-gang-group-id"
	DeprecatedAnnotationBindGangMemberCount = SchedulingDomainPrefix + "bind-gang-member-count"
)

// GangMode says what becomes of members that found a node when others did not.
type GangMode string

const (
	// GangModeStrict gives the nodes back; the default.
	GangModeStrict GangMode = "Strict"
	// GangModeNonStrict keeps them.
	GangModeNonStrict GangMode = "NonStrict"
)

// GangMatchPolicy says which members count towards min-available.
type GangMatchPolicy string

const (
	// GangMatchPolicyOnlyWaiting counts members waiting for the others.
	GangMatchPolicyOnlyWaiting GangMatchPolicy = "only-waiting"
	// GangMatchPolicyWaitingAndRunning counts running members too.
	GangMatchPolicyWaitingAndRunning GangMatchPolicy = "waiting-and-running"
	// GangMatchPolicyOnceSatisfied stops counting once the gang ran; the default.
	GangMatchPolicyOnceSatisfied GangMatchPolicy = "once-satisfied"
)

// GangName returns the gang of a pod, "" when it has none: the PodGroup label, the annotation, the deprecated label.
func GangName(obj metav1.Object) string {
	if name := obj.GetLabels()[LabelPodGroup]; name != "" {
		return name
	}
	if name := obj.GetAnnotations()[AnnotationGangName]; name != "" {
		return name
	}
	return obj.GetLabels()[DeprecatedLabelPodGroupName]
}

// GangMinAvailable returns the members that must run together: the annotation, or the deprecated label.
func GangMinAvailable(obj metav1.Object) (int32, error) {
	if value := obj.GetAnnotations()[AnnotationGangMinAvailable]; value != "" {
		return memberCount(AnnotationGangMinAvailable, value)
	}
	return memberCount(DeprecatedLabelPodGroupMinAvailable, obj.GetLabels()[DeprecatedLabelPodGroupMinAvailable])
}

// GangTotalNumber returns the number of members, 0 when absent.
func GangTotalNumber(annotations map[string]string) (int32, error) {
	return memberCount(AnnotationGangTotalNumber, annotations[AnnotationGangTotalNumber])
}

func memberCount(key, value string) (int32, error) {
	if value == "" {
		return 0, nil
	}
	count, err := strconv.ParseInt(value, 10, 32)
	if err != nil || count < 0 {
		return 0, fmt.Errorf("parse %q: %.40q is not a number of pods", key, value)
	}
	return int32(count), nil
}

// GangWaitingTime returns how long members wait for each other, 0 when absent.
func GangWaitingTime(annotations map[string]string) (time.Duration, error) {
	value := annotations[AnnotationGangWaitingTime]
	if value == "" {
		return 0, nil
	}
	wait, err := time.ParseDuration(value)
	if err != nil || wait < 0 {
		return 0, fmt.Errorf("parse annotation %q: %.40q is not a duration", AnnotationGangWaitingTime, value)
	}
	return wait, nil
}

// GangModeOf returns the mode; Strict when absent or unknown.
func GangModeOf(annotations map[string]string) GangMode {
	if GangMode(annotations[AnnotationGangMode]) == GangModeNonStrict {
		return GangModeNonStrict
	}
	return GangModeStrict
}

// GangMatchPolicyOf returns the match policy; once-satisfied when absent or unknown.
func GangMatchPolicyOf(annotations map[string]string) GangMatchPolicy {
	value := annotations[AnnotationGangMatchPolicy]
	if value == "" {
		value = annotations[AnnotationAliasGangMatchPolicy]
	}
	switch policy := GangMatchPolicy(value); policy {
	case GangMatchPolicyOnlyWaiting, GangMatchPolicyWaitingAndRunning:
		return policy
	}
	return GangMatchPolicyOnceSatisfied
}

// GetGangGroups decodes AnnotationGangGroups.
func GetGangGroups(annotations map[string]string) ([]string, error) {
	return decodeOr[[]string](annotations, AnnotationGangGroups)
}

// SetGangGroups writes AnnotationGangGroups; nil removes it.
func SetGangGroups(obj metav1.Object, groups []string) error {
	if groups == nil {
		removeAnnotation(obj, AnnotationGangGroups)
		return nil
	}
	return EncodeAnnotation(obj, AnnotationGangGroups, &groups)
}

// NetworkTopologySpec says how close in the network the members of a gang must be.
type NetworkTopologySpec struct {
	GatherStrategy []NetworkTopologyGatherRule `json:"gatherStrategy,omitempty"`
}

// NetworkTopologyGatherRule is the rule for one layer of the network.
type NetworkTopologyGatherRule struct {
	Layer    schedulingv1alpha1.TopologyLayer `json:"layer"`
	Strategy NetworkTopologyGatherStrategy    `json:"strategy"`
	// PodCountMultiple makes every domain of the layer hold a multiple of that many members.
	PodCountMultiple int `json:"podCountMultiple,omitempty"`
}

// NetworkTopologyGatherStrategy is how strict a rule is.
type NetworkTopologyGatherStrategy string

const (
	// NetworkTopologyGatherStrategyMustGather wants one domain of the layer.
	NetworkTopologyGatherStrategyMustGather NetworkTopologyGatherStrategy = "MustGather"
	// NetworkTopologyGatherStrategyPreferGather wants as few domains as possible.
	NetworkTopologyGatherStrategyPreferGather NetworkTopologyGatherStrategy = "PreferGather"
)

// GetNetworkTopologySpec decodes AnnotationGangNetworkTopologySpec.
func GetNetworkTopologySpec(annotations map[string]string) (*NetworkTopologySpec, error) {
	return DecodeAnnotation[NetworkTopologySpec](annotations, AnnotationGangNetworkTopologySpec)
}

// SetNetworkTopologySpec writes AnnotationGangNetworkTopologySpec.
func SetNetworkTopologySpec(obj metav1.Object, spec *NetworkTopologySpec) error {
	return EncodeAnnotation(obj, AnnotationGangNetworkTopologySpec, spec)
}

// GangNetworkTopologyIndex returns the rank of a member, -1 when absent.
func GangNetworkTopologyIndex(annotations map[string]string) (int32, error) {
	return int32Annotation(annotations, AnnotationGangNetworkTopologyIndex, -1)
}
