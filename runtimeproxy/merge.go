package runtimeproxy

import (
	"maps"
	"slices"
	"unicode/utf8"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"koordinator.sh/koord/runtimeproxy/hookapi"
)

// mergePod applies an answer to a request, and says whether anything is different.
func mergePod(config *runtimeapi.PodSandboxConfig, change *hookapi.PodSandboxHookResponse) bool {
	changed := overlay(&config.Labels, change.Labels)
	changed = overlay(&config.Annotations, change.Annotations) || changed
	if change.CgroupParent == "" && change.Resources == nil {
		return changed
	}
	if config.Linux == nil {
		config.Linux = &runtimeapi.LinuxPodSandboxConfig{}
	}
	changed = set(&config.Linux.CgroupParent, change.CgroupParent) || changed
	return mergeResources(&config.Linux.Resources, change.Resources) || changed
}

// mergeContainer applies an answer to a request, and says whether anything is different.
func mergeContainer(config *runtimeapi.ContainerConfig, sandbox *runtimeapi.PodSandboxConfig, change *hookapi.ContainerResourceHookResponse) bool {
	changed := overlay(&config.Annotations, change.ContainerAnnotations)
	changed = mergeEnvs(config, change.ContainerEnvs) || changed
	if change.PodCgroupParent != "" && sandbox != nil && sandbox.Linux != nil {
		changed = set(&sandbox.Linux.CgroupParent, change.PodCgroupParent) || changed
	}
	if change.ContainerResources == nil {
		return changed
	}
	if config.Linux == nil {
		config.Linux = &runtimeapi.LinuxContainerConfig{}
	}
	return mergeResources(&config.Linux.Resources, change.ContainerResources) || changed
}

// mergeEnvs replaces variables where they are, and appends new ones in the order of their names.
func mergeEnvs(config *runtimeapi.ContainerConfig, change map[string]string) bool {
	changed := false
	for _, key := range slices.Sorted(maps.Keys(change)) {
		value, found := change[key], false
		for _, env := range config.Envs {
			if env.Key == key {
				changed = changed || string(env.Value) != value
				env.Value, found = []byte(value), true
			}
		}
		if !found {
			config.Envs, changed = append(config.Envs, &runtimeapi.KeyValue{Key: key, Value: []byte(value)}), true
		}
	}
	return changed
}

// mergeResources applies all that a change says: zero says nothing, and -1 is no limit.
func mergeResources(target **runtimeapi.LinuxContainerResources, change *hookapi.LinuxContainerResources) bool {
	if change == nil {
		return false
	}
	if *target == nil {
		*target = &runtimeapi.LinuxContainerResources{}
	}
	out, changed := *target, false
	for _, field := range []struct {
		target *int64
		value  int64
	}{
		{&out.CpuPeriod, change.CpuPeriod}, {&out.CpuQuota, change.CpuQuota}, {&out.CpuShares, change.CpuShares},
		{&out.MemoryLimitInBytes, change.MemoryLimitInBytes}, {&out.OomScoreAdj, change.OomScoreAdj},
		{&out.MemorySwapLimitInBytes, change.MemorySwapLimitInBytes},
	} {
		changed = set(field.target, field.value) || changed
	}
	changed = set(&out.CpusetCpus, change.CpusetCpus) || changed
	changed = set(&out.CpusetMems, change.CpusetMems) || changed
	changed = overlay(&out.Unified, change.Unified) || changed
	for _, limit := range change.HugepageLimits {
		changed = mergeHugepages(out, limit) || changed
	}
	return changed
}

func mergeHugepages(out *runtimeapi.LinuxContainerResources, limit *hookapi.HugepageLimit) bool {
	for _, there := range out.HugepageLimits {
		if there.PageSize == limit.PageSize {
			changed := there.Limit != limit.Limit
			there.Limit = limit.Limit
			return changed
		}
	}
	out.HugepageLimits = append(out.HugepageLimits, &runtimeapi.HugepageLimit{PageSize: limit.PageSize, Limit: limit.Limit})
	return true
}

// set replaces a value by one that is not zero.
func set[T comparable](target *T, value T) bool {
	var zero T
	if value == zero || value == *target {
		return false
	}
	*target = value
	return true
}

// overlay adds and replaces entries.
func overlay(target *map[string]string, change map[string]string) bool {
	changed := false
	for key, value := range change {
		if there, found := (*target)[key]; found && there == value {
			continue
		}
		if *target == nil {
			*target = map[string]string{}
		}
		(*target)[key], changed = value, true
	}
	return changed
}

// resourcesOf is what hook servers are told about resources; nil for none.
func resourcesOf(in *runtimeapi.LinuxContainerResources) *hookapi.LinuxContainerResources {
	if in == nil {
		return nil
	}
	out := &hookapi.LinuxContainerResources{
		CpuPeriod: in.CpuPeriod, CpuQuota: in.CpuQuota, CpuShares: in.CpuShares, MemoryLimitInBytes: in.MemoryLimitInBytes,
		OomScoreAdj: in.OomScoreAdj, CpusetCpus: in.CpusetCpus, CpusetMems: in.CpusetMems, Unified: in.Unified,
		MemorySwapLimitInBytes: in.MemorySwapLimitInBytes,
	}
	for _, limit := range in.HugepageLimits {
		out.HugepageLimits = append(out.HugepageLimits, &hookapi.HugepageLimit{PageSize: limit.PageSize, Limit: limit.Limit})
	}
	return out
}

// envsOf are the variables that can be passed: values that are no text are left out.
func envsOf(in []*runtimeapi.KeyValue) map[string]string {
	if len(in) == 0 {
		return nil
	}
	out := make(map[string]string, len(in))
	for _, env := range in {
		if utf8.Valid(env.Value) {
			out[env.Key] = string(env.Value)
		}
	}
	return out
}
