package qos

import (
	"testing"

	"koordinator.sh/koord/agent/host/cgroup"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/cpuset"
)

// foreignGroup is the cgroup of a container that YARN runs.
const foreignGroup = "kubepods/besteffort/hadoop-yarn/container_1764272000000_0001_01_000002"

func (r *rig) wantForeign(setting cgroup.Setting, at, want string) {
	r.Helper()
	got, _ := (&NodeSnapshot{Tree: r.kernel, Layout: r.layout}).read(setting, at)
	if setting.Name == cgroup.CPUSet.Name {
		cpus, err := cpuset.Parse(got)
		if err != nil {
			r.Error(err)
		}
		got = cpus.String()
	}
	if got != want {
		r.Errorf("%s of %s is %q, want %q", setting.Name, at, got, want)
	}
}

// TestContainersOfOtherSchedulersAreSuppressed: they are below the cgroup of best-effort pods, whose quota holds all of them, and get its
// CPUs like a pod's; those that come later get them when cgroups are listed again.
func TestContainersOfOtherSchedulersAreSuppressed(t *testing.T) {
	onBoth(t, func(r *rig) {
		r.kernel.Make(foreignGroup)
		r.kernel.Enter(foreignGroup, 1)
		r.used["service"], r.used["batch"], r.usedNode = 3, 3, 6.5
		r.round()
		lent := r.suppression.Decision().CPUs.CPUs
		if lent.Len() != 3 {
			r.Fatalf("%s are lent, want 3 CPUs", lent)
		}
		r.wantForeign(cgroup.CPUSet, "kubepods/besteffort/hadoop-yarn", lent.String())
		r.wantForeign(cgroup.CPUSet, foreignGroup, lent.String())
		later := foreignGroup + "9"
		r.kernel.Make(later)
		r.kernel.Enter(later, 1)
		for range int(relistInterval.Seconds()) {
			r.round()
		}
		r.wantForeign(cgroup.CPUSet, later, r.suppression.Decision().CPUs.CPUs.String())
		r.strategy.CPUSuppressPolicy = slov1alpha1.CPUCfsQuotaPolicy
		r.used["service"], r.usedNode = 5, 8.5
		r.round()
		r.wantForeign(cgroup.CPUQuota, "kubepods/besteffort", "100000") // 65 % of 10, less 5 and 0.5 of the system
		r.wantForeign(cgroup.CPUQuota, foreignGroup, "-1")
	})
}
