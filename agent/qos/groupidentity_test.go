package qos

import (
	"testing"

	"koordinator.sh/koord/agent/host/cgroup"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// TestIdentitiesAreSwitchedOn on kernels that apply them only when the sysctl is set.
func TestIdentitiesAreSwitchedOn(t *testing.T) {
	const parameter = "/proc/sys/kernel/sched_group_identity_enabled"
	ranked := map[string]string{"kubepods/besteffort/cpu.bvt_warp_ns": "-1", "kubepods/besteffort/podbatch/cpu.bvt_warp_ns": "-1", parameter: "1"}
	off := map[string]string{"kubepods/besteffort/cpu.bvt_warp_ns": "-1", "kubepods/besteffort/podbatch/cpu.bvt_warp_ns": "-1"}
	tests := map[string]struct {
		change func(*slov1alpha1.NodeSLOSpec)
		want   map[string]string
	}{
		"with a class": {nil, ranked},
		"not without":  {func(slo *slov1alpha1.NodeSLOSpec) { slo.ResourceQOSStrategy = nil }, nil},
		"not where the system's says it": {func(slo *slov1alpha1.NodeSLOSpec) {
			slo.SystemStrategy = &slov1alpha1.SystemStrategy{SchedGroupIdentityEnabled: new(int64(0))}
		}, off},
		"not where core scheduling decides": {func(slo *slov1alpha1.NodeSLOSpec) {
			slo.ResourceQOSStrategy.Policies = &slov1alpha1.ResourceQOSPolicies{CPUPolicy: new(slov1alpha1.CPUQOSPolicyCoreSched)}
		}, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			n := newNode(t, cgroup.V1, []Feature{GroupIdentity{}, SystemConfig{}}, batchPod)
			n.kernel.Anolis()
			n.proc.Number("sys/kernel/sched_group_identity_enabled", 0, 0, 1)
			n.in.SLO.ResourceQOSStrategy = strategy()
			n.in.SLO.ResourceQOSStrategy.LSClass = nil
			if tc.change != nil {
				tc.change(n.in.SLO)
			}
			n.begin()
			n.round()
			n.wantChanged(tc.want)
			n.wantSteady()
			n.wantRestored(nil)
		})
	}
}
