package hooks

import (
	"path"
	"strconv"
	"strings"

	"koordinator.sh/koord/agent/executor"
	"koordinator.sh/koord/agent/host/cgroup"
)

// Resources are what kubelet requested of a runtime for a container's cgroup.
type Resources struct {
	// Values as version 1 has them, by setting. Absent and zero are not requested.
	Values map[cgroup.Setting]int64
	// CPUs as a list; empty is not requested.
	CPUs string
	// Unified is files of cgroups version 2, by name.
	Unified map[string]string
}

// fresh are the values of a cgroup that was just made, by setting. What is not among them depends on the cgroup above it, or on the
// kernel.
var fresh = map[cgroup.Setting]string{
	cgroup.CPUQuota: "-1", cgroup.CPUBurst: "0", cgroup.CPUIdle: "0", cgroup.MemoryLimit: "-1", cgroup.MemoryMin: "0", cgroup.MemoryLow: "0",
	cgroup.MemoryHigh: "-1", cgroup.OOMGroup: "0",
}

// original is the content that the file of a setting would have without a hook, as it is given back; empty where that is not known.
func (r *Resources) original(v *view, setting executor.Setting) string {
	of, is := setting.(cgroup.Setting)
	if r == nil || !is {
		return ""
	}
	version := v.in.Layout.Version
	if file, has := (cgroup.Layout{Version: cgroup.V2}).Path(of, ""); has && version == cgroup.V2 && r.Unified[file] != "" {
		return r.Unified[file]
	}
	if of == cgroup.MemoryLimit && v.boundsSwap() {
		return ""
	}
	value, known := fresh[of]
	if number := r.Values[of]; number != 0 {
		value, known = strconv.FormatInt(number, 10), true
	}
	if of == cgroup.CPUSet {
		value, known = r.CPUs, r.CPUs != "" || version == cgroup.V2
		if !known {
			return v.allCPUs()
		}
	}
	content, err := of.Encode(version, value)
	if err != nil || !known {
		return ""
	}
	return content
}

// boundsSwap reports whether the kernel of version 1 bounds memory with swap too. Runtimes give that the same bound, which no limit may grow
// past: one that a hook chose cannot be lifted again.
func (v *view) boundsSwap() bool {
	return v.in.Layout.Version == cgroup.V1 && v.in.Tree.Exists(path.Join("memory", v.in.Layout.Kubepods(), "memory.memsw.limit_in_bytes"))
}

// allCPUs are those that a runtime gives to a container in version 1 when none are requested: what is above the container, which has
// all that pods may have. It is read where the agent sets nothing. Empty where it cannot be read.
func (v *view) allCPUs() string {
	at, _ := v.in.Layout.Path(cgroup.CPUSet, v.in.Layout.Kubepods())
	content, err := v.in.Tree.Read(at, nil)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(content))
}
