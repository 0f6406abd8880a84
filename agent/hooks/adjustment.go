package hooks

import (
	"maps"
	"slices"
	"strconv"

	"koordinator.sh/koord/agent/executor"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/agent/state"
	"koordinator.sh/koord/decision/nodeqos/oomscore"
)

// Injection is what is given to containers beside cgroup values.
type Injection struct {
	// GPUs and RDMA devices that the scheduler gave to the pod, and the score that its annotation has for when memory runs out.
	GPUs, RDMA, OOMScore bool
}

// Adjustment is what a container gets when it is made. What is nil or empty stays as kubelet asked for.
type Adjustment struct {
	// CPUShares, CPUQuota in microseconds per 100 ms, and MemoryLimit in bytes; -1 is no limit.
	CPUShares, CPUQuota, MemoryLimit *int64
	// CPUs as a list.
	CPUs string
	// Unified is files of cgroups version 2, by name.
	Unified map[string]string
	// Env by name.
	Env     map[string]string
	Devices []Device
	// OOMScore is oom_score_adj.
	OOMScore *int64
	// DesiredValues of the container's cgroup, all that there are, by the features that have them. Partial says that runtimes take only some.
	DesiredValues map[string][]executor.DesiredValue
	Partial       bool
	// Problems say what could not be read, or is not the pod's; its effect is left out.
	Problems []error
	// Refused says why the container must not be made yet; nil where it may.
	Refused error
}

// IsEmpty reports whether there is nothing for a runtime to do.
func (a *Adjustment) IsEmpty() bool {
	return a.CPUShares == nil && a.CPUQuota == nil && a.MemoryLimit == nil && a.CPUs == "" && len(a.Unified) == 0 && len(a.Env) == 0 &&
		len(a.Devices) == 0 && a.OOMScore == nil
}

// AdjustmentOf decides what one container gets. The container's cgroup must lie in that of the pod.
func AdjustmentOf(in qos.NodeSnapshot, features []qos.Feature, injection Injection, pod *state.Pod, container qos.Container) Adjustment {
	out := Adjustment{DesiredValues: map[string][]executor.DesiredValue{}}
	for owner, values := range qos.DesiredForNewPod(in, features, pod, container) {
		if own := slices.DeleteFunc(values, func(w executor.DesiredValue) bool { return w.Cgroup != container.Cgroup }); len(own) > 0 {
			out.DesiredValues[owner] = own
		}
	}
	settled, failures := executor.Resolve(in.Layout.Version, qos.Owners(features), out.DesiredValues)
	for _, failure := range failures {
		out.Problems = append(out.Problems, failure)
	}
	for _, desired := range settled {
		out.Partial = !out.take(in.Layout.Version, desired) || out.Partial
	}
	if injection.OOMScore {
		// Without an annotation there is nothing to give: the runtime has kubelet's value.
		if score := oomscore.Of(pod.Object.Annotations, container.Name, 0); score.Source == oomscore.FromAnnotation {
			out.OOMScore = &score.Value
		}
	}
	out.inject(in, injection, pod.Object)
	return out
}

// take puts a value where runtimes have a field for it, and where cgroups of version 2 do without one. It reports whether there is either.
func (a *Adjustment) take(version cgroup.Version, desired executor.DesiredValue) bool {
	number, err := strconv.ParseInt(desired.Value, 10, 64)
	switch {
	case desired.Setting == executor.Setting(cgroup.CPUSet):
		a.CPUs = desired.Value
	case err != nil:
		return false
	case desired.Setting == executor.Setting(cgroup.CPUShares) && version == cgroup.V1:
		a.CPUShares = &number
	case desired.Setting == executor.Setting(cgroup.CPUQuota):
		a.CPUQuota = &number
	case desired.Setting == executor.Setting(cgroup.MemoryLimit):
		a.MemoryLimit = &number
	case version == cgroup.V2:
		return a.unify(desired)
	default:
		return false
	}
	return true
}

// unify writes a value as a file of version 2, and reports whether it is one. Weights are among them: runtimes do not agree on how shares
// become one. Of a file that has a line for each device, runtimes write one.
func (a *Adjustment) unify(desired executor.DesiredValue) bool {
	setting, is := desired.Setting.(cgroup.Setting)
	if !is {
		return false
	}
	file, has := cgroup.Layout{Version: cgroup.V2}.Path(setting, "")
	content, err := setting.Encode(cgroup.V2, desired.Value)
	if _, taken := a.Unified[file]; !has || err != nil || taken {
		return false
	}
	if a.Unified == nil {
		a.Unified = map[string]string{}
	}
	a.Unified[file] = content
	return true
}

// Environment lists variables in the order of their names.
func (a *Adjustment) Environment() []string { return slices.Sorted(maps.Keys(a.Env)) }
