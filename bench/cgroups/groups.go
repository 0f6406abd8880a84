// Package cgroups makes cgroups for benchmarks, in every hierarchy that there is, as kubelet does. It needs root and Linux.
package cgroups

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// Mount is where cgroups are.
const Mount = "/sys/fs/cgroup"

// Groups are cgroups that were made, and are removed at the end. Its methods are for one goroutine.
type Groups struct {
	// Unified says that cgroups are of version 2.
	Unified bool

	roots []string
	// made are their directories, those above others first.
	made []string
}

// New makes cgroups, given from the top down. What it returns must be removed, also after an error.
func New(paths ...string) (*Groups, error) {
	g := &Groups{}
	if _, err := os.Stat(filepath.Join(Mount, "cgroup.controllers")); err == nil {
		g.Unified, g.roots = true, []string{Mount}
	} else {
		for _, controller := range []string{"cpu", "cpuacct", "cpuset", "memory", "unified"} {
			if root := filepath.Join(Mount, controller); exists(root) {
				g.roots = append(g.roots, root)
			}
		}
	}
	for _, at := range paths {
		if err := g.Make(at); err != nil {
			return g, err
		}
	}
	return g, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Make makes one cgroup more. The one above it must be there.
func (g *Groups) Make(at string) error {
	for _, root := range g.roots {
		if err := g.make(root, at); err != nil {
			return fmt.Errorf("make cgroup %q: %w", at, err)
		}
	}
	return nil
}

func (g *Groups) make(root, at string) error {
	directory := filepath.Join(root, at)
	if err := os.Mkdir(directory, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	g.made = append(g.made, directory)
	if g.Unified {
		// The last ones have no children, and the root may have it already.
		_ = os.WriteFile(filepath.Join(filepath.Dir(directory), "cgroup.subtree_control"), []byte("+cpu +cpuset +memory"), 0)
	}
	if !strings.HasSuffix(root, "/cpuset") {
		return nil
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
	return nil
}

// Enter puts a process into a cgroup.
func (g *Groups) Enter(at string, pid int) error {
	var problems []error
	for _, root := range g.roots {
		problems = append(problems, os.WriteFile(filepath.Join(root, at, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0))
	}
	return errors.Join(problems...)
}

// Remove removes one cgroup, and all that were made below it.
func (g *Groups) Remove(at string) error {
	var problems []error
	for _, root := range g.roots {
		top := filepath.Join(root, at)
		below := func(directory string) bool { return directory == top || strings.HasPrefix(directory, top+"/") }
		for _, directory := range slices.Backward(g.made) {
			if below(directory) {
				problems = append(problems, remove(directory))
			}
		}
		g.made = slices.DeleteFunc(g.made, below)
	}
	return errors.Join(problems...)
}

// RemoveAll removes what was made.
func (g *Groups) RemoveAll() error {
	var problems []error
	for _, directory := range slices.Backward(g.made) {
		problems = append(problems, remove(directory))
	}
	g.made = nil
	return errors.Join(problems...)
}

// remove waits a while for processes that were killed, which leave their cgroups a moment later.
func remove(directory string) error {
	var err error
	removed := func(context.Context) (bool, error) {
		err = os.Remove(directory)
		return err == nil || errors.Is(err, fs.ErrNotExist), nil
	}
	if wait.PollUntilContextTimeout(context.Background(), 20*time.Millisecond, 2*time.Second, true, removed) == nil {
		return nil
	}
	return err
}
