package resctrlfs

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"syscall"

	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/agent/host/resctrl"
)

// Processor is what the imitated one can do.
type Processor struct {
	// Ways of each last-level cache, and LeastWays of a mask; no ways for a cache that cannot be divided.
	Ways, LeastWays int
	// CodeAndData is how it is when mounted with the option cdp.
	CodeAndData bool
	// AllBandwidth is what MB shows of a group that is not bounded: 100, or 2048 on AMD; 0 where bandwidth cannot be divided.
	AllBandwidth uint64
	// Step and Least of the bandwidth, and Quantum that values are rounded to where that is coarser than the reported step, as on ARM.
	Step, Least, Quantum uint64
	// Caches is how many last-level caches there are.
	Caches int
	// Groups that it can tell apart, with the root group.
	Groups int
	// Monitors is true where it counts what groups use.
	Monitors bool
}

// Intel is a processor with 11 ways, percentages and 8 groups, and AMD one with 16 ways and figures up to 2048.
var (
	Intel = Processor{Ways: 11, LeastWays: 1, AllBandwidth: 100, Step: 10, Least: 10, Caches: 2, Groups: 8, Monitors: true}
	AMD   = Processor{Ways: 16, LeastWays: 1, AllBandwidth: 2048, Step: 1, Caches: 2, Groups: 16, Monitors: true}
)

// Tree is what is at /sys/fs/resctrl. All methods may be called at the same time.
type Tree struct {
	processor Processor

	mu     sync.Mutex
	groups map[string]*group
	// threads that run, and the group of each.
	threads map[int]string
	fault   func(operation, path string) error
	// writes that were done.
	writes []string
}

var _ resctrl.Tree = (*Tree)(nil)

type group struct {
	schemata map[string]map[int]uint64
	counters map[string]string
}

// New returns a tree with nothing but the root group.
func New(processor Processor) *Tree {
	t := &Tree{processor: processor, groups: map[string]*group{}, threads: map[int]string{}}
	t.groups[""] = t.newGroup()
	return t
}

// newGroup has everything, as the kernel gives it while no group is exclusive.
func (t *Tree) newGroup() *group {
	g := &group{schemata: map[string]map[int]uint64{}, counters: map[string]string{}}
	for _, resource := range t.resources() {
		g.schemata[resource] = map[int]uint64{}
		for cache := range t.processor.Caches {
			g.schemata[resource][cache] = t.all(resource)
		}
	}
	return g
}

func (t *Tree) resources() []string {
	var out []string
	switch {
	case t.processor.Ways > 0 && t.processor.CodeAndData:
		out = append(out, "L3CODE", "L3DATA")
	case t.processor.Ways > 0:
		out = append(out, "L3")
	}
	if t.processor.AllBandwidth > 0 {
		out = append(out, "MB")
	}
	return out
}

func (t *Tree) all(resource string) uint64 {
	if resource == "MB" {
		return t.processor.AllBandwidth
	}
	return 1<<t.processor.Ways - 1
}

// Start has threads run, in the root group, and End ends them.
func (t *Tree) Start(threads ...int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, thread := range threads {
		t.threads[thread] = ""
	}
}

// End ends threads.
func (t *Tree) End(threads ...int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, thread := range threads {
		delete(t.threads, thread)
	}
}

// Fork has a thread start another one, which is in its group.
func (t *Tree) Fork(thread, child int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.threads[child] = t.threads[thread]
}

// Count has the counters of a group show something.
func (t *Tree) Count(group, counter string, cache int, shown string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.groups[group].counters[fmt.Sprintf("mon_L3_%02d/%s", cache, counter)] = shown
}

// Fail has every operation ask whether it fails: "read", "write", "make" and "remove" of a path. Nil ends that.
func (t *Tree) Fail(fault func(operation, path string) error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.fault = fault
}

// Dump returns the schemata of all groups, and the threads of all but the root group.
func (t *Tree) Dump() map[string]string {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := map[string]string{}
	for name := range t.groups {
		out[name+"/schemata"] = t.showSchemata(name)
		if tasks := t.showTasks(name); name != "" && tasks != "" {
			out[name+"/tasks"] = strings.Join(strings.Fields(tasks), " ")
		}
	}
	return out
}

// Writes lists the groups made and removed and the files written since it was asked last.
func (t *Tree) Writes() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := t.writes
	t.writes = nil
	return out
}

// Make implements resctrl.Tree.
func (t *Tree) Make(name string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	err := t.failing("make", name)
	switch {
	case err != nil:
	case name == "" || strings.ContainsAny(name, "\n"):
		err = syscall.EINVAL
	case strings.Contains(name, "/"):
		err = syscall.EPERM
	case t.groups[name] != nil || slices.Contains(reserved, name):
		err = syscall.EEXIST
	case t.processor.Groups > 0 && len(t.groups) >= t.processor.Groups:
		err = syscall.ENOSPC
	}
	if err != nil {
		return &fs.PathError{Op: "mkdirat", Path: name, Err: err}
	}
	t.groups[name] = t.newGroup()
	t.writes = append(t.writes, "make "+name)
	return nil
}

// reserved are the directories of the root that are no groups.
var reserved = []string{"info", "mon_data", "mon_groups"}

// Remove implements resctrl.Tree: threads of the group are in the root group then.
func (t *Tree) Remove(name string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	err := t.failing("remove", name)
	switch {
	case err != nil:
	case name == "" || slices.Contains(reserved, name):
		err = syscall.EPERM
	case t.groups[name] == nil:
		err = syscall.ENOENT
	}
	if err != nil {
		return &fs.PathError{Op: "unlinkat", Path: name, Err: err}
	}
	delete(t.groups, name)
	for thread, in := range t.threads {
		if in == name {
			t.threads[thread] = ""
		}
	}
	t.writes = append(t.writes, "remove "+name)
	return nil
}

// Close implements resctrl.Tree.
func (*Tree) Close() error { return nil }

// Open implements files.FS. Nothing of resctrl is kept open.
func (t *Tree) Open(path string) (files.File, error) {
	return nil, &fs.PathError{Op: "open", Path: path, Err: syscall.EPERM}
}

// Exists implements files.FS.
func (t *Tree) Exists(path string) bool {
	if path == "info" {
		return true
	}
	if _, err := t.Directories(path); err == nil {
		return true
	}
	_, err := t.Read(path, nil)
	return err == nil
}

// Directories implements files.FS.
func (t *Tree) Directories(path string) ([]string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	name, within := t.split(path)
	switch {
	case t.groups[name] == nil:
	case within == "" && name == "":
		return append(slices.DeleteFunc(slices.Sorted(maps.Keys(t.groups)), func(n string) bool { return n == "" }), reserved...), nil
	case within == "":
		return []string{"mon_data", "mon_groups"}, nil
	case within == "mon_data" && t.processor.Monitors:
		var out []string
		for cache := range t.processor.Caches {
			out = append(out, fmt.Sprintf("mon_L3_%02d", cache))
		}
		return out, nil
	}
	for directory := range t.info() {
		if above, _, _ := strings.Cut(strings.TrimPrefix(directory, "info/"), "/"); path == "info/"+above {
			return nil, nil
		}
	}
	return nil, &fs.PathError{Op: "open", Path: path, Err: syscall.ENOENT}
}

// split a path into the group and what is within.
func (t *Tree) split(path string) (name, within string) {
	path = strings.Trim(strings.TrimPrefix(path, "."), "/")
	first, rest, _ := strings.Cut(path, "/")
	if t.groups[first] != nil && first != "" {
		return first, rest
	}
	return "", path
}

func (t *Tree) failing(operation, path string) error {
	if t.fault == nil {
		return nil
	}
	return t.fault(operation, path)
}
