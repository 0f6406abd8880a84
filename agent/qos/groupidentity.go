package qos

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/agent/executor"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/parameter"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/nodeqos/groupidentity"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
	"koordinator.sh/koord/decision/nodeqos/sysctl"
)

// GroupIdentity ranks pods against each other on a CPU.
type GroupIdentity struct{}

// Name implements Feature.
func (GroupIdentity) Name() string { return nodefeature.GroupIdentity.Name }

// DesiredValues implements Feature. Where no class is switched on it wants nothing.
func (GroupIdentity) DesiredValues(in NodeSnapshot) []executor.DesiredValue {
	kernel := groupidentity.Capability{BVT: in.supports(cgroup.CPUBvt), Idle: in.supports(cgroup.CPUIdle)}
	var values []executor.DesiredValue
	for _, class := range []corev1.PodQOSClass{corev1.PodQOSGuaranteed, corev1.PodQOSBurstable, corev1.PodQOSBestEffort} {
		identity := groupidentity.OfGroup(in.SLO.ResourceQOSStrategy, class)
		if identity.Source != groupidentity.FromReset {
			values = append(values, identityWishes(in.Layout.QoS(class), identity, identity.GroupValues(kernel))...)
		}
	}
	for _, pod := range in.Pods {
		if !pod.Running() {
			continue
		}
		identity := groupidentity.OfPod(in.SLO.ResourceQOSStrategy, groupidentity.Pod{
			QoS: extension.PodQoSClass(pod.Object), KubeQOS: pod.Class(), Annotations: pod.Object.Annotations,
		})
		if identity.Source != groupidentity.FromReset {
			values = append(values, identityWishes(in.Layout.Pod(pod.Class(), pod.UID), identity, identity.PodValues(kernel))...)
		}
	}
	values = append(values, applicationWishes(in, kernel)...)
	if kernel.BVT && len(values) > 0 {
		values = append(values, switchWishes(in)...)
	}
	return values
}

// switchWishes are for kernels that regard identities only while a parameter of the machine says so. What the strategy of the system
// says of it counts, and where core scheduling ranks pods it stays as it is.
func switchWishes(in NodeSnapshot) []executor.DesiredValue {
	group := groupidentity.OfGroup(in.SLO.ResourceQOSStrategy, corev1.PodQOSGuaranteed)
	if system := in.SLO.SystemStrategy; group.Source == groupidentity.FromCoreScheduling || system != nil && system.SchedGroupIdentityEnabled != nil {
		return nil
	}
	var values []executor.DesiredValue
	for _, found := range parameter.Find(sysctl.Setting{Name: sysctl.SchedGroupIdentityEnabled}) {
		if found.Supported(in.Proc, in.Sys) {
			values = append(values, executor.DesiredValue{Setting: found, Value: "1", Why: "enables group identity in the kernel"})
		}
	}
	return values
}

func identityWishes(at string, identity groupidentity.Identity, values groupidentity.Values) []executor.DesiredValue {
	why := fmt.Sprintf("identity %d by %s", identity.Value, identity.Source)
	var desired []executor.DesiredValue
	for _, value := range []struct {
		setting cgroup.Setting
		value   *int64
	}{{cgroup.CPUBvt, values.BVT}, {cgroup.CPUIdle, values.Idle}, {cgroup.CPUShares, values.Shares}} {
		if value.value != nil {
			desired = append(desired, executor.DesiredValue{Setting: value.setting, Cgroup: at, Value: strconv.FormatInt(*value.value, 10), Why: why})
		}
	}
	return desired
}
