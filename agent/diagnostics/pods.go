package diagnostics

import (
	"strings"

	"koordinator.sh/koord/agent/executor"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// Place is where the cgroups of a pod are.
type Place struct {
	// Pod is the cgroup of the pod, and Above those that hold it, the nearest last.
	Pod   string
	Above []string
	// Containers are names by cgroup.
	Containers map[string]string
}

// Asked says whether a cgroup is one of the pod's, or above it.
func (p *Place) Asked(of string) bool {
	if of == p.Pod || strings.HasPrefix(of, p.Pod+"/") {
		return true
	}
	for _, above := range p.Above {
		if of == above {
			return true
		}
	}
	return false
}

// Settings are those of a pod among the targets: of what is above it, of itself, and of its containers.
func (p *Place) Settings(targets []executor.Target) []diagnosticsv1alpha1.CgroupSetting {
	var out []diagnosticsv1alpha1.CgroupSetting
	for i := range targets {
		target := &targets[i]
		if !p.Asked(target.Of) {
			continue
		}
		setting := diagnosticsv1alpha1.CgroupSetting{
			Container: p.Containers[target.Of], Cgroup: target.Of, Setting: target.Setting, Desired: target.Value, Effective: target.Effective,
			Matches: target.Err == nil && target.Effective == target.Value, Owner: target.Owner, Why: target.Why, Outranked: target.Outranked,
		}
		if target.Err != nil {
			setting.Error = target.Err.Error()
		}
		out = append(out, setting)
	}
	return out
}
