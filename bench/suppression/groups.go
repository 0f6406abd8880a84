package main

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"koordinator.sh/koord/sandbox/cgrouptree"
)

// parent is kubelet's --cgroup-root, as configured in the agent.
const parent = "koord-bench-suppression"

// remove deletes all cgroups, a moment after the processes in them have ended.
func remove(ctx context.Context, groups *cgrouptree.Tree) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	return groups.Remove(ctx, parent)
}

// weigh gives cgroups the weights that kubelet does, and all of them together more than the rest of the machine.
func weigh(groups *cgrouptree.Tree) error {
	for at, shares := range map[string]int{parent: 100000, kubepods: 2048, bestEffort: 2, kubepods + "/burstable": 1024} {
		name, value := filepath.Join(cgrouptree.Mount, "cpu", at, "cpu.shares"), shares
		if groups.Unified() {
			name, value = filepath.Join(cgrouptree.Mount, at, "cpu.weight"), min(max(1+(shares-2)*9999/262142, 1), 10000)
		}
		if err := os.WriteFile(name, []byte(strconv.Itoa(value)), 0); err != nil {
			return err
		}
	}
	return nil
}

// quota of a cgroup in microseconds per 100 milliseconds; negative for none.
func quota(groups *cgrouptree.Tree, at string) (int64, error) {
	name := filepath.Join(cgrouptree.Mount, "cpu", at, "cpu.cfs_quota_us")
	if groups.Unified() {
		name = filepath.Join(cgrouptree.Mount, at, "cpu.max")
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
