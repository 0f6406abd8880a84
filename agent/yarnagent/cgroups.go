package yarnagent

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/agent/host/machine"
)

// Tree is the tree of cgroups, in which cgroups can be made and removed.
type Tree interface {
	files.FS
	// MakeDirectory makes one directory; one that exists is an error that wraps fs.ErrExist.
	MakeDirectory(path string) error
	// RemoveDirectory removes one that has neither processes nor cgroups below it.
	RemoveDirectory(path string) error
}

// groups are the cgroups of YARN's containers.
type groups struct {
	tree   Tree
	layout cgroup.Layout
	// above is the cgroup that they are in.
	above string
	// complete has containers be in all hierarchies, also where the NodeManager put them into that of CPU.
	complete bool
}

// of returns the cgroup of a container. Its ID was checked, and is a single name.
func (g *groups) of(id string) string { return path.Join(g.above, id) }

// hierarchies are the directories of a cgroup: one in version 2, and one for each controller in version 1 in which kubelet has a cgroup
// for best-effort pods.
func (g *groups) hierarchies(at string) []string {
	directories := []string{
		g.layout.Directory(cgroup.CPUStat, at), g.layout.Directory(cgroup.CPUUsage, at), g.layout.Directory(cgroup.MemoryStat, at),
	}
	for _, setting := range []cgroup.Setting{cgroup.CPUSet, cgroup.IOWeight} {
		if file, has := g.layout.Path(setting, at); has {
			directories = append(directories, path.Dir(file))
		}
	}
	slices.Sort(directories)
	return slices.DeleteFunc(slices.Compact(directories), func(directory string) bool {
		return g.layout.Version == cgroup.V1 && !g.tree.Exists(strings.TrimSuffix(directory, at)+g.layout.QoS(corev1.PodQOSBestEffort))
	})
}

// members lists the processes in a cgroup and those below it, in the hierarchy of CPU.
func (g *groups) members(at string) ([]int, error) {
	return g.within(g.layout.Directory(cgroup.Processes, at))
}

func (g *groups) within(directory string) ([]int, error) {
	content, err := g.tree.Read(path.Join(directory, "cgroup.procs"), nil)
	if err != nil {
		return nil, err
	}
	var out []int
	for word := range strings.FieldsSeq(string(content)) {
		if pid, err := strconv.Atoi(word); err == nil && pid > 0 {
			out = append(out, pid)
		}
	}
	below, err := g.tree.Directories(directory)
	if err != nil && !files.IsGone(err) {
		return nil, err
	}
	for _, name := range below {
		more, err := g.within(path.Join(directory, name))
		if err != nil && !files.IsGone(err) {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}

// leaveServices drops the processes of containers that are in cgroups of pods above best effort: anyone can set a variable, and no pod's
// process is taken out of its limits. What /proc says of cgroups is not compared, because it is relative to the cgroup namespace of who
// reads it.
func (g *groups) leaveServices(found map[string][]int) error {
	if len(found) == 0 {
		return nil
	}
	kubepods, bestEffort := g.layout.Kubepods(), g.layout.QoS(corev1.PodQOSBestEffort)
	names, err := g.tree.Directories(g.layout.Directory(cgroup.Processes, kubepods))
	if err != nil {
		return err
	}
	for _, name := range names {
		at := path.Join(kubepods, name)
		if at == bestEffort {
			continue
		}
		services, err := g.members(at)
		if err != nil && !files.IsGone(err) {
			return err
		}
		for id, pids := range found {
			found[id] = slices.DeleteFunc(pids, func(pid int) bool { return slices.Contains(services, pid) })
		}
	}
	return nil
}

// cpuTime that a container has used; nil when it is not known.
func (g *groups) cpuTime(id string) *time.Duration {
	content, err := g.tree.Read(g.layout.Statistic(cgroup.CPUUsage, g.of(id)), nil)
	if err != nil {
		return nil
	}
	used, err := machine.CPUTime(g.layout.Version, content)
	if err != nil {
		return nil
	}
	return &used
}

// adopt has processes of a container be in its cgroup, in all hierarchies. Where the NodeManager made the cgroup itself, its processes
// stay as they are but for hierarchies that it left out.
func (g *groups) adopt(id string, pids []int) error {
	at := g.of(id)
	if err := g.make(at); err != nil {
		return fmt.Errorf("make cgroup %s: %w", at, err)
	}
	inside, err := g.members(at)
	if err != nil {
		return fmt.Errorf("read cgroup %s: %w", at, err)
	}
	var problems []error
	for _, directory := range g.hierarchies(at) {
		moving := pids
		if g.complete {
			moving = slices.Concat(pids, inside)
		}
		present, err := g.within(directory)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		for _, pid := range moving {
			if slices.Contains(present, pid) {
				continue
			}
			if err := g.tree.Write(path.Join(directory, "cgroup.procs"), strconv.Itoa(pid)); err != nil && !files.IsGone(err) {
				problems = append(problems, fmt.Errorf("move process %d into cgroup %s: %w", pid, directory, err))
			}
		}
	}
	return errors.Join(problems...)
}

// make makes a cgroup of a container in all hierarchies, and the one above it.
func (g *groups) make(at string) error {
	for _, each := range []string{g.above, at} {
		for _, directory := range g.hierarchies(each) {
			if g.tree.Exists(directory) {
				continue
			}
			if err := g.tree.MakeDirectory(directory); err != nil && !errors.Is(err, fs.ErrExist) {
				return err
			}
		}
		g.inherit(each)
	}
	return g.delegate()
}

// inherit gives a cgroup of version 1 the CPUs and memory nodes of the one above it, without which it takes no process.
func (g *groups) inherit(at string) {
	if g.layout.Version != cgroup.V1 {
		return
	}
	for _, setting := range []cgroup.Setting{cgroup.CPUSet, cgroup.MemoryNodes} {
		own, _ := g.layout.Path(setting, at)
		parent, _ := g.layout.Path(setting, path.Dir(at))
		if has, err := g.tree.Read(own, nil); err != nil || len(strings.TrimSpace(string(has))) > 0 {
			continue
		}
		if given, err := g.tree.Read(parent, nil); err == nil {
			_ = g.tree.Write(own, strings.TrimSpace(string(given))) // moving a process in reports that it has none
		}
	}
}

// delegate lets cgroups of version 2 be measured and limited one by one, as far as those above allow it.
func (g *groups) delegate() error {
	if g.layout.Version != cgroup.V2 {
		return nil
	}
	file := path.Join(g.above, "cgroup.subtree_control")
	content, err := g.tree.Read(file, nil)
	if err != nil {
		return err
	}
	enabled := strings.Fields(string(content))
	var problems []error
	for _, controller := range []string{"cpu", "memory", "cpuset", "io", "pids"} {
		if slices.Contains(enabled, controller) {
			continue
		}
		if err := g.tree.Write(file, "+"+controller); err != nil && (controller == "cpu" || controller == "memory") {
			problems = append(problems, fmt.Errorf("enable controller %s: %w", controller, err))
		}
	}
	return errors.Join(problems...)
}

// sweep removes the empty cgroups of containers that are not kept.
func (g *groups) sweep(kept map[string]bool) {
	names, err := g.tree.Directories(g.layout.Directory(cgroup.Processes, g.above))
	if err != nil {
		return
	}
	for _, name := range names {
		if _, _, valid := application(name); !valid || kept[name] {
			continue
		}
		for _, directory := range g.hierarchies(g.of(name)) {
			_ = g.tree.RemoveDirectory(directory) // the kernel refuses one that is in use, which is tried again
		}
	}
}
