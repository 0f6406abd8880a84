package executor

import (
	"strings"

	"koordinator.sh/koord/agent/host/cgroup"
)

// Wish is a value that a feature wants a cgroup to have.
type Wish struct {
	Setting cgroup.Setting
	// Cgroup is relative to a hierarchy.
	Cgroup string
	// Value as version 1 has it.
	Value string
	// Why with numbers, for the audit log.
	Why string
}

// target is one setting of one cgroup.
type target struct {
	setting cgroup.Setting
	cgroup  string
}

// depth orders cgroups: every cgroup comes after the one above it.
func (t target) depth() int { return strings.Count(t.cgroup, "/") }

// choice is the wish that a target gets.
type choice struct {
	owner, value, why string
}

// merge chooses for each target the wish of the owner that comes first among owners. Values are made canonical; those that no
// kernel takes are returned as failures, and the next owner is heard.
func merge(version cgroup.Version, owners []string, wishes map[string][]Wish) (map[target]choice, []Failure) {
	chosen := map[target]choice{}
	var failures []Failure
	for _, owner := range owners {
		for _, wish := range wishes[owner] {
			t := target{wish.Setting, wish.Cgroup}
			if _, taken := chosen[t]; taken {
				continue
			}
			value, err := wish.Setting.Canonical(version, wish.Value)
			if err != nil {
				failures = append(failures, Failure{Owner: owner, Setting: wish.Setting.Name, Cgroup: wish.Cgroup, Err: err})
				continue
			}
			chosen[t] = choice{owner: owner, value: value, why: wish.Why}
		}
	}
	dropShares(chosen)
	return chosen, failures
}

// dropShares of idle groups: the kernel takes none of them, and they would have no effect.
func dropShares(chosen map[target]choice) {
	for t, wanted := range chosen {
		if t.setting == cgroup.CPUIdle && wanted.value == "1" {
			delete(chosen, target{cgroup.CPUShares, t.cgroup})
		}
	}
}
