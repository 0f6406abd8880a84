package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"koordinator.sh/koord/bench/cgroups"
)

// parent is kubelet's --cgroup-root, as the agent is told.
const parent = "koord-bench-suppression"

// weigh gives cgroups the weights that kubelet does, and all of them together more than the rest of the machine.
func weigh(groups *cgroups.Groups) error {
	for at, shares := range map[string]int{parent: 100000, kubepods: 2048, bestEffort: 2, kubepods + "/burstable": 1024} {
		name, value := filepath.Join(cgroups.Mount, "cpu", at, "cpu.shares"), shares
		if groups.Unified {
			name, value = filepath.Join(cgroups.Mount, at, "cpu.weight"), min(max(1+(shares-2)*9999/262142, 1), 10000)
		}
		if err := os.WriteFile(name, []byte(strconv.Itoa(value)), 0); err != nil {
			return err
		}
	}
	return nil
}

// quota of a cgroup in microseconds per 100 milliseconds; negative for none.
func quota(groups *cgroups.Groups, at string) (int64, error) {
	name := filepath.Join(cgroups.Mount, "cpu", at, "cpu.cfs_quota_us")
	if groups.Unified {
		name = filepath.Join(cgroups.Mount, at, "cpu.max")
	}
	content, err := os.ReadFile(name)
	if err != nil {
		return 0, err
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(content)), " ")
	if first == "max" {
		return -1, nil
	}
	return strconv.ParseInt(first, 10, 64)
}
