package nri

import (
	"github.com/containerd/nri/pkg/api"

	"koordinator.sh/koord/agent/hooks"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/decision/core/cfs"
)

// deviceMode of devices in containers: everybody in it may use them.
const deviceMode = 0o666

// changes is a request of the runtime for other resources, to which values are added.
type changes interface {
	SetLinuxCPUShares(uint64)
	SetLinuxCPUQuota(int64)
	SetLinuxCPUPeriod(int64)
	SetLinuxCPUSetCPUs(string)
	SetLinuxMemoryLimit(int64)
	AddLinuxUnified(key, value string)
}

// set adds all values of an adjustment that are others than there are, and reports whether there were any.
func set(to changes, wanted hooks.Adjustment, there *api.LinuxResources) bool {
	reported, changed := resourcesOf(there).Values, false
	differs := func(value *int64, setting cgroup.Setting) bool {
		if value == nil || *value == reported[setting] || *value < 0 && reported[setting] == 0 {
			return false
		}
		changed = true
		return true
	}
	if differs(wanted.CPUShares, cgroup.CPUShares) {
		to.SetLinuxCPUShares(uint64(*wanted.CPUShares))
	}
	if differs(wanted.CPUQuota, cgroup.CPUQuota) {
		to.SetLinuxCPUQuota(*wanted.CPUQuota)
		to.SetLinuxCPUPeriod(cfs.Period)
	}
	if differs(wanted.MemoryLimit, cgroup.MemoryLimit) {
		to.SetLinuxMemoryLimit(*wanted.MemoryLimit)
	}
	if wanted.CPUs != "" && wanted.CPUs != there.GetCpu().GetCpus() {
		to.SetLinuxCPUSetCPUs(wanted.CPUs)
		changed = true
	}
	for file, content := range wanted.Unified {
		if there.GetUnified()[file] != content {
			to.AddLinuxUnified(file, content)
			changed = true
		}
	}
	return changed
}

// adjust is the answer for a container that is about to be made; nil when nothing is to be different.
func adjust(wanted hooks.Adjustment, there *api.LinuxResources) *api.ContainerAdjustment {
	out := &api.ContainerAdjustment{}
	changed := set(out, wanted, there)
	for _, name := range wanted.Environment() {
		out.AddEnv(name, wanted.Env[name])
	}
	for _, device := range wanted.Devices {
		out.AddDevice(&api.LinuxDevice{
			Path: device.Path, Type: "c", Major: device.Major, Minor: device.Minor, FileMode: &api.OptionalFileMode{Value: deviceMode},
		})
	}
	if wanted.OOMScore != nil {
		score := int(*wanted.OOMScore)
		out.SetLinuxOomScoreAdj(&score)
	}
	if !changed && len(wanted.Env) == 0 && len(wanted.Devices) == 0 && wanted.OOMScore == nil {
		return nil
	}
	return out
}

// resourcesOf are those that kubelet requested of a runtime.
func resourcesOf(in *api.LinuxResources) *hooks.Resources {
	return &hooks.Resources{
		Values: map[cgroup.Setting]int64{
			cgroup.CPUShares: int64(min(in.GetCpu().GetShares().GetValue(), uint64(cfs.MostShares))), cgroup.CPUQuota: in.GetCpu().GetQuota().GetValue(),
			cgroup.MemoryLimit: in.GetMemory().GetLimit().GetValue(),
		},
		CPUs: in.GetCpu().GetCpus(), Unified: in.GetUnified(),
	}
}
