package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	mount = "/sys/fs/cgroup"
	// parent is kubelet's --cgroup-root, as the agent is told.
	parent = "koord-bench-squeeze"
)

// groups are cgroups as kubelet makes them, in every hierarchy that there is.
type groups struct {
	roots []string
	made  []string
	v2    bool
}

// newGroups makes cgroups, given from the top down.
func newGroups(paths ...string) (*groups, error) {
	g := &groups{}
	if _, err := os.Stat(filepath.Join(mount, "cgroup.controllers")); err == nil {
		g.v2, g.roots = true, []string{mount}
	} else {
		for _, controller := range []string{"cpu", "cpuacct", "cpuset", "memory", "unified"} {
			g.roots = append(g.roots, filepath.Join(mount, controller))
		}
	}
	for _, at := range paths {
		if err := g.make(at); err != nil {
			return g, fmt.Errorf("make cgroup %q: %w", at, err)
		}
	}
	return g, nil
}

func (g *groups) make(at string) error {
	for _, root := range g.roots {
		directory := filepath.Join(root, at)
		if err := os.Mkdir(directory, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		g.made = append(g.made, directory)
		if g.v2 {
			// The last ones have no children, and the root may have it already.
			_ = os.WriteFile(filepath.Join(filepath.Dir(directory), "cgroup.subtree_control"), []byte("+cpu +cpuset +memory"), 0)
		}
		if !strings.HasSuffix(root, "/cpuset") {
			continue
		}
		for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
			content, err := os.ReadFile(filepath.Join(filepath.Dir(directory), file))
			if err == nil {
				err = os.WriteFile(filepath.Join(directory, file), content, 0)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (g *groups) enter(at string, pid int) error {
	var problems []error
	for _, root := range g.roots {
		problems = append(problems, os.WriteFile(filepath.Join(root, at, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0))
	}
	return errors.Join(problems...)
}

// weigh gives cgroups the weights that kubelet does, and all of them together more than the rest of the machine.
func (g *groups) weigh() error {
	for at, shares := range map[string]int{parent: 100000, kubepods: 2048, bestEffort: 2, kubepods + "/burstable": 1024} {
		name, value := filepath.Join(mount, "cpu", at, "cpu.shares"), shares
		if g.v2 {
			name, value = filepath.Join(mount, at, "cpu.weight"), min(max(1+(shares-2)*9999/262142, 1), 10000)
		}
		if err := os.WriteFile(name, []byte(strconv.Itoa(value)), 0); err != nil {
			return err
		}
	}
	return nil
}

// quota of a cgroup in microseconds per 100 milliseconds; negative for none.
func (g *groups) quota(at string) (int64, error) {
	name := filepath.Join(mount, "cpu", at, "cpu.cfs_quota_us")
	if g.v2 {
		name = filepath.Join(mount, at, "cpu.max")
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

// remove removes what was made. Processes that were killed leave their cgroups a moment later.
func (g *groups) remove() error {
	var problems []error
	slices.Reverse(g.made)
	for _, directory := range g.made {
		var err error
		for range 100 {
			if err = os.Remove(directory); err == nil || errors.Is(err, fs.ErrNotExist) {
				err = nil
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}
