package extension

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Keys that override the node's QoS strategies for one pod. The payloads of cpuBurst, cpuQOS, memoryQOS and blkioQOS
// are types of slo.koordinator.sh, whose package decodes them.
const (
	AnnotationPodCPUBurst  = DomainPrefix + "cpuBurst"
	AnnotationPodCPUQOS    = DomainPrefix + "cpuQOS"
	AnnotationPodMemoryQOS = DomainPrefix + "memoryQOS"
	AnnotationPodBlkioQOS  = DomainPrefix + "blkioQOS"
	// AnnotationNetworkQOS limits the bandwidth of the pod.
	AnnotationNetworkQOS = DomainPrefix + "networkQOS"
	// AnnotationResctrl gives the pod a share of cache and memory bandwidth.
	AnnotationResctrl = NodeDomainPrefix + "resctrl"
	// LabelCoreSchedGroupID groups pods that may share a physical core.
	LabelCoreSchedGroupID = DomainPrefix + "core-sched-group-id"
	// LabelCoreSchedPolicy turns core scheduling of the pod off ("none") or keeps others off its cores ("exclusive").
	LabelCoreSchedPolicy = DomainPrefix + "core-sched-policy"
)

// NetworkQOS limits the bandwidth of a pod, in bits per second: "10M" is ten megabits.
type NetworkQOS struct {
	IngressLimit string `json:"ingressLimit,omitempty"`
	EgressLimit  string `json:"egressLimit,omitempty"`
}

// GetNetworkQOS decodes AnnotationNetworkQOS and checks that both limits are non-negative quantities.
func GetNetworkQOS(annotations map[string]string) (*NetworkQOS, error) {
	qos, err := DecodeAnnotation[NetworkQOS](annotations, AnnotationNetworkQOS)
	if qos == nil || err != nil {
		return nil, err
	}
	for _, limit := range []string{qos.IngressLimit, qos.EgressLimit} {
		if limit == "" {
			continue
		}
		if quantity, err := resource.ParseQuantity(limit); err != nil || quantity.Sign() < 0 {
			return nil, fmt.Errorf("decode annotation %q: %.40q is not a bandwidth", AnnotationNetworkQOS, limit)
		}
	}
	return qos, nil
}

// SetNetworkQOS writes AnnotationNetworkQOS.
func SetNetworkQOS(obj metav1.Object, qos *NetworkQOS) error {
	return EncodeAnnotation(obj, AnnotationNetworkQOS, qos)
}

// CoreSchedPolicy is the value of LabelCoreSchedPolicy.
type CoreSchedPolicy string

const (
	// CoreSchedPolicyDefault shares cores within the group.
	CoreSchedPolicyDefault CoreSchedPolicy = ""
	// CoreSchedPolicyNone does without core scheduling.
	CoreSchedPolicyNone CoreSchedPolicy = "none"
	// CoreSchedPolicyExclusive shares cores with no other pod.
	CoreSchedPolicyExclusive CoreSchedPolicy = "exclusive"
)

// PodCoreSched returns the core-scheduling group and policy of a pod; unknown policies count as the default.
func PodCoreSched(pod *corev1.Pod) (group string, policy CoreSchedPolicy) {
	if pod == nil {
		return "", CoreSchedPolicyDefault
	}
	switch p := CoreSchedPolicy(pod.Labels[LabelCoreSchedPolicy]); p {
	case CoreSchedPolicyNone, CoreSchedPolicyExclusive:
		policy = p
	}
	return pod.Labels[LabelCoreSchedGroupID], policy
}

// ResctrlConfig is a share of last-level cache and memory bandwidth.
type ResctrlConfig struct {
	LLC ResctrlResource `json:"llc,omitempty,omitzero"`
	MB  ResctrlResource `json:"mb,omitempty,omitzero"`
}

// ResctrlResource is a share for all caches, and for single ones.
type ResctrlResource struct {
	Schemata         SchemataConfig           `json:"schemata,omitempty,omitzero"`
	SchemataPerCache []SchemataPerCacheConfig `json:"schemataPerCache,omitempty"`
}

// SchemataConfig is a percentage (of bandwidth) or a range of percentages (of cache ways).
type SchemataConfig struct {
	Percent int   `json:"percent,omitempty"`
	Range   []int `json:"range,omitempty"`
}

// SchemataPerCacheConfig is a share of one cache.
type SchemataPerCacheConfig struct {
	CacheID        int `json:"cacheID,omitempty"`
	SchemataConfig `json:",inline"`
}

// GetResctrl decodes AnnotationResctrl.
func GetResctrl(annotations map[string]string) (*ResctrlConfig, error) {
	return DecodeAnnotation[ResctrlConfig](annotations, AnnotationResctrl)
}

// SetResctrl writes AnnotationResctrl.
func SetResctrl(obj metav1.Object, config *ResctrlConfig) error {
	return EncodeAnnotation(obj, AnnotationResctrl, config)
}
