package kernelfs

import (
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/decision/core/cpuset"
)

// Tree is what is at /sys/fs/cgroup. All methods may be called at the same time.
type Tree struct {
	version cgroup.Version
	// possible are the CPUs of the machine, and online those that run.
	possible, online cpuset.CPUSet
	page             int64
	// table of what each file does.
	table map[string]rule
	// bursty kernels let more be saved up than the quota.
	bursty bool
	// devices that are there, as major:minor.
	devices map[string]bool

	mu    sync.Mutex
	root  *group
	fault func(operation, path string) error
	// reads and writes that were done.
	reads, writes int
}

var _ files.FS = (*Tree)(nil)

// group is one cgroup. In version 1 it is in every hierarchy, as kubelet and runtimes make it.
type group struct {
	name     string
	parent   *group
	children map[string]*group
	// content of each file, without the newline.
	content map[string]string
	// tasks in the group itself.
	tasks int
	gone  bool
}

// New returns a tree with nothing but its root, on a machine of some CPUs.
func New(version cgroup.Version, online cpuset.CPUSet) *Tree {
	t := &Tree{version: version, possible: online, online: online, page: 4096, table: rulesOf(version), devices: map[string]bool{"254:0": true}}
	t.root = t.newGroup("", nil)
	return t
}

func (t *Tree) newGroup(name string, parent *group) *group {
	g := &group{name: name, parent: parent, children: map[string]*group{}, content: map[string]string{}}
	for file, rule := range t.rules() {
		if rule.has(parent) {
			g.content[file] = rule.initial
		}
	}
	if parent == nil {
		for _, file := range []string{"cpuset.cpus", "cpuset.cpus.effective"} {
			g.content[file] = t.online.String()
		}
	}
	return g
}

// Fail has every operation ask whether it fails: "read", "write", "open" and "list" of a path. Nil ends that.
func (t *Tree) Fail(fault func(operation, path string) error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.fault = fault
}

// Counts returns how many reads and writes succeeded.
func (t *Tree) Counts() (reads, writes int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.reads, t.writes
}

// Make makes a cgroup, and those above it. A cgroup of version 1 starts without CPUs, and gets its parent's here, as from kubelet.
func (t *Tree) Make(cgroup string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := t.root
	for name := range strings.SplitSeq(cgroup, "/") {
		if at.children[name] == nil {
			at.children[name] = t.newGroup(name, at)
			if t.version == 1 {
				at.children[name].content["cpuset.cpus"] = at.content["cpuset.cpus"]
			}
		}
		at = at.children[name]
	}
}

// Enter puts tasks into a cgroup, or takes them out when negative.
func (t *Tree) Enter(cgroup string, tasks int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if g := t.find(cgroup); g != nil {
		g.tasks += tasks
	}
}

// Show has a file of the kernel's show some content, as a statistic.
func (t *Tree) Show(cgroup, file, content string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if g := t.find(cgroup); g != nil {
		g.content[file] = strings.TrimSuffix(content, "\n")
	}
}

// Remove removes a cgroup with all below it, as when the pod goes.
func (t *Tree) Remove(cgroup string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	g := t.find(cgroup)
	if g == nil || g.parent == nil {
		return
	}
	delete(g.parent.children, g.name)
	g.remove()
}

func (g *group) remove() {
	g.gone = true
	for _, child := range g.children {
		child.remove()
	}
}

// Dump returns the content of all files that can be written, by path within the hierarchy. CPUs in version 2 are those in effect:
// a cgroup with tasks to which CPUs were given once has nothing else to show that they are all it could have without.
func (t *Tree) Dump() map[string]string {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := map[string]string{}
	t.root.dump(t, "", out)
	return out
}

func (g *group) dump(t *Tree, at string, out map[string]string) {
	for file, rule := range t.rules() {
		if content, has := g.content[file]; has && rule.write != nil {
			if file == "cpuset.cpus" && t.version == cgroup.V2 {
				content = t.effective(g).String()
			}
			out[path.Join(at, file)] = content
		}
	}
	for name, child := range g.children {
		child.dump(t, path.Join(at, name), out)
	}
}

func (t *Tree) find(cgroup string) *group {
	at := t.root
	for name := range strings.SplitSeq(cgroup, "/") {
		if name == "" || name == "." {
			continue
		}
		if at = at.children[name]; at == nil {
			return nil
		}
	}
	return at
}

// controllers are the hierarchies of version 1.
var controllers = []string{"cpu", "cpuacct", "cpuset", "memory", "blkio"}

// locate splits a path into the cgroup and the file in it.
func (t *Tree) locate(name string) (*group, string, error) {
	name = path.Clean(name)
	if !fs.ValidPath(name) {
		return nil, "", syscall.EINVAL
	}
	controller, within, _ := strings.Cut(name, "/")
	if t.version == cgroup.V2 {
		controller, within = "", name
	} else if !slices.Contains(controllers, controller) {
		return nil, "", syscall.ENOENT
	}
	if g := t.find(within); g != nil {
		return g, "", nil
	}
	g, file := t.find(path.Dir(within)), path.Base(within)
	if g == nil {
		return nil, "", syscall.ENOENT
	}
	if _, has := g.content[file]; !has || !t.belongs(controller, file) {
		return nil, "", syscall.ENOENT
	}
	return g, file, nil
}

// belongs is true for files of a hierarchy; the lists of tasks are in all of them.
func (t *Tree) belongs(controller, file string) bool {
	of, _, _ := strings.Cut(file, ".")
	return t.version == cgroup.V2 || of == controller || of == "cgroup" || of == "tasks"
}

// names of the children, sorted.
func (g *group) names() []string { return slices.Sorted(maps.Keys(g.children)) }
