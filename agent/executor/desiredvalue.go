package executor

import (
	"strings"

	"koordinator.sh/koord/agent/host/cgroup"
)

// DesiredValue is a value that a feature wants a cgroup to have, or the machine, or a process.
type DesiredValue struct {
	Setting Setting
	// Cgroup is relative to a hierarchy; empty for a parameter of the machine, and a process.Identity for a process.
	Cgroup string
	// Value as version 1 has it.
	Value string
	// Why with numbers, for the audit log.
	Why string
	// Inherited is what is given back where the value was there when it was first looked at: a process has it from the one that
	// started it. Empty gives nothing else back then.
	Inherited string
}

// target is one setting of one cgroup, of the machine or of a process.
type target struct {
	setting Setting
	of      string
}

// depth orders cgroups: every cgroup comes after the one above it.
func (t target) depth() int { return strings.Count(t.of, "/") }

// choice is the value that a target gets.
type choice struct {
	owner, value, why, inherited string
}

// merge chooses for each target the value of the owner that comes first among owners, into a map that is empty before. Values are made
// canonical; those that no kernel takes are returned as failures, and the next owner is heard.
func merge(chosen map[target]choice, owners []string, values map[string][]DesiredValue, canonical canonicalizer) []Failure {
	var failures []Failure
	for _, owner := range owners {
		for _, desired := range values[owner] {
			t := target{desired.Setting, desired.Cgroup}
			if _, taken := chosen[t]; taken {
				continue
			}
			value, err := canonical(desired.Setting, desired.Value)
			if err != nil {
				failures = append(failures, Failure{Owner: owner, Setting: desired.Setting.Key(), Cgroup: desired.Cgroup, Err: err})
				continue
			}
			chosen[t] = choice{owner: owner, value: value, why: desired.Why, inherited: desired.Inherited}
		}
	}
	keepIdleShares(chosen)
	return failures
}

// keepIdleShares of idle groups: the kernel takes none of them, and forgets those that a group had before, so that what it shows
// meanwhile is what is wanted of them. When the group is idle no longer, they are given back like everything else.
func keepIdleShares(chosen map[target]choice) {
	for t, wanted := range chosen {
		if t.setting == cgroup.CPUIdle && wanted.value == "1" {
			chosen[target{shares, t.of}] = choice{owner: wanted.owner, value: cgroup.IdleShares, why: "an idle cgroup has none"}
		}
	}
}

// shares is made a Setting once, and not for each idle group in each round.
var shares Setting = cgroup.CPUShares
