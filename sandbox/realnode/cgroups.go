package realnode

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
)

// cgroups are the hierarchies of a machine, mounted below one directory.
type cgroups struct{ root string }

func (h Host) cgroups() cgroups { return cgroups{root: filepath.Join(h.Root, "sys/fs/cgroup")} }

func (c cgroups) unified() bool {
	_, err := os.Stat(filepath.Join(c.root, "cgroup.controllers"))
	return err == nil
}

// hierarchies are the directories of all hierarchies: the root itself under version 2, else one for each set of controllers.
// Links to them, such as cpu for cpu,cpuacct, are left out.
func (c cgroups) hierarchies() ([]string, error) {
	if c.unified() {
		return []string{c.root}, nil
	}
	entries, err := os.ReadDir(c.root)
	if err != nil {
		return nil, fmt.Errorf("list cgroup hierarchies: %w", err)
	}
	var dirs []string
	for _, entry := range entries {
		dir := filepath.Join(c.root, entry.Name())
		if _, err := os.Stat(filepath.Join(dir, "cgroup.procs")); err == nil && entry.IsDir() {
			dirs = append(dirs, dir)
		}
	}
	return dirs, nil
}

// create makes a cgroup in every hierarchy, with all of the machine's CPUs.
func (c cgroups) create(name string) error {
	if c.unified() {
		return c.createUnified(name)
	}
	hierarchies, err := c.hierarchies()
	if err != nil {
		return err
	}
	for _, hierarchy := range hierarchies {
		if err := makeCgroup(filepath.Join(hierarchy, name)); err != nil {
			return err
		}
		// A new cgroup has no CPU and no memory node, and could hold no process.
		for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
			if err := inherit(hierarchy, name, file); err != nil {
				return err
			}
		}
	}
	return nil
}

func makeCgroup(path string) error {
	if err := os.Mkdir(path, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("create cgroup: %w", err)
	}
	return nil
}

// inherit copies a setting of a hierarchy's root, where the hierarchy has it.
func inherit(hierarchy, name, file string) error {
	value, err := os.ReadFile(filepath.Join(hierarchy, file))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(hierarchy, name, file), value, 0o644)
	}
	if err != nil {
		return fmt.Errorf("configure cgroup %q: set %s: %w", name, file, err)
	}
	return nil
}

// createUnified makes a cgroup of version 2. Controllers that the root does not hand down are switched on there; they are left
// on, because another's cgroup may have come to use them.
func (c cgroups) createUnified(name string) error {
	available, err := os.ReadFile(filepath.Join(c.root, "cgroup.controllers"))
	if err != nil {
		return fmt.Errorf("read the machine's cgroup controllers: %w", err)
	}
	if err := makeCgroup(filepath.Join(c.root, name)); err != nil {
		return err
	}
	for _, dir := range []string{c.root, filepath.Join(c.root, name)} {
		enabled, err := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
		if err != nil {
			return fmt.Errorf("read the controllers of cgroup %q: %w", dir, err)
		}
		for _, controller := range append(slices.Clone(controllersV2), "hugetlb") {
			offered := slices.Contains(strings.Fields(string(available)), controller)
			if !offered || slices.Contains(strings.Fields(string(enabled)), controller) {
				continue
			}
			if err := os.WriteFile(filepath.Join(dir, "cgroup.subtree_control"), []byte("+"+controller), 0o644); err != nil {
				return fmt.Errorf("enable controller %q in cgroup %q: %w", controller, dir, err)
			}
		}
	}
	return nil
}

// processes are those in the cgroup and below it, in any hierarchy, sorted. What vanishes meanwhile has none.
func (c cgroups) processes(name string) ([]int, error) {
	var pids []int
	err := c.walk(name, func(dir string) error {
		data, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
		if err != nil {
			return err
		}
		for _, field := range strings.Fields(string(data)) {
			// A process that the reader's own namespace does not show is 0.
			if pid, err := strconv.Atoi(field); err == nil && pid > 1 {
				pids = append(pids, pid)
			}
		}
		return nil
	})
	slices.Sort(pids)
	return slices.Compact(pids), err
}

// walk calls do for the cgroup and those below it, in every hierarchy, from the top.
func (c cgroups) walk(name string, do func(dir string) error) error {
	hierarchies, err := c.hierarchies()
	if err != nil {
		return err
	}
	for _, hierarchy := range hierarchies {
		err := filepath.WalkDir(filepath.Join(hierarchy, name), func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.IsDir() {
				err = do(path)
			}
			if isGone(err) {
				return nil
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("read cgroup %q: %w", name, err)
		}
	}
	return nil
}

// removeInterval is how often a cgroup that is still in use is tried again.
const removeInterval = 20 * time.Millisecond

// remove deletes the cgroup and those below it, in every hierarchy. It tries until ctx ends: the kernel lets go of a process a
// moment after its end.
func (c cgroups) remove(ctx context.Context, name string) error {
	tick := time.NewTicker(removeInterval)
	defer tick.Stop()
	for {
		err := c.removeOnce(name)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("remove cgroup %q: %w", name, err)
		case <-tick.C:
		}
	}
}

func (c cgroups) removeOnce(name string) error {
	var dirs []string
	if err := c.walk(name, func(dir string) error { dirs = append(dirs, dir); return nil }); err != nil {
		return err
	}
	for _, dir := range slices.Backward(dirs) {
		if err := removeDirectory(dir); err != nil {
			return err
		}
	}
	return nil
}
