package machine

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"koordinator.sh/koord/agent/host"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/agent/host/kernelfs"
	"koordinator.sh/koord/decision/core/cpuset"
)

// idleNode is a machine of pods of two containers each, in which nothing runs.
type idleNode struct {
	*testing.T
	*Machine
	kernel *kernelfs.Tree
	clock  *clocktesting.FakeClock
	layout cgroup.Layout
	last   host.Snapshot
}

func newIdleNode(t *testing.T, version cgroup.Version, pods int) *idleNode {
	n := &idleNode{T: t, kernel: kernelfs.New(version, cpuset.Of(0, 1)), clock: clocktesting.NewFakeClock(now), layout: cgroup.Layout{Version: version, Driver: cgroup.Cgroupfs}}
	for i := range pods {
		for _, at := range append(n.containers(i), n.pod(i)) {
			show(n.kernel, version, at, "20", "50000000", "10000000")
		}
	}
	var err error
	proc := tree(t, map[string]string{"stat": stat, "meminfo": meminfo})
	if n.Machine, err = New(Options{Proc: proc, Cgroup: n.kernel, Layout: n.layout, Clock: n.clock}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	for range 2 * Turns {
		n.read()
	}
	return n
}

func (n *idleNode) pod(i int) string {
	return n.layout.Pod("BestEffort", types.UID(fmt.Sprintf("%03d", i)))
}

func (n *idleNode) containers(i int) []string {
	return []string{n.pod(i) + "/" + fmt.Sprintf("%064x", 2*i), n.pod(i) + "/" + fmt.Sprintf("%064x", 2*i+1)}
}

// read takes a reading a second after the one before, and returns how many files of cgroups it read.
func (n *idleNode) read() int {
	n.Helper()
	before, _ := n.kernel.Counts()
	n.clock.Step(time.Second)
	if err := n.Read(n.Context(), &n.last); err != nil {
		n.Fatal(err)
	}
	after, _ := n.kernel.Counts()
	return after - before
}

// TestOfPodsInWhichNothingRunsLittleIsRead: the CPU time of each, and all of a tenth of them.
func TestOfPodsInWhichNothingRunsLittleIsRead(t *testing.T) {
	for _, version := range []cgroup.Version{cgroup.V1, cgroup.V2} {
		const pods = 40
		n := newIdleNode(t, version, pods)
		before := slices.Clone(n.last.Containers)
		const ofOne = 8 // files of a cgroup, pressure and block I/O included
		most := pods + 3*ofOne*pods/Turns + 2*ofOne
		for range Turns {
			if reads := n.read(); reads > most {
				t.Errorf("version %d: %d files were read, want %d at most", version, reads, most)
			}
		}
		if len(n.last.Pods) != pods || n.last.Pods[0].Memory != 40000000 || n.last.Pods[0].CPU != 20*time.Millisecond {
			t.Errorf("version %d: %d pods, the first of which is %+v", version, len(n.last.Pods), n.last.Pods[0])
		}
		ignored := cmpopts.IgnoreTypes(host.Pressure{}, host.BlockIO{})
		if diff := cmp.Diff(before, n.last.Containers, ignored); diff != "" || len(before) != 2*pods {
			t.Errorf("version %d: %d containers, of which some changed (-before +after):\n%s", version, len(before), diff)
		}
	}
}

// TestAPodThatRunsIsReadAtOnce, but for page cache that hardly moved.
func TestAPodThatRunsIsReadAtOnce(t *testing.T) {
	for _, version := range []cgroup.Version{cgroup.V1, cgroup.V2} {
		n := newIdleNode(t, version, 2)
		next := 20
		step := func(used, cache int64) host.Counter {
			next += 10
			for _, at := range []string{n.pod(1), n.containers(1)[0]} {
				show(n.kernel, version, at, strconv.Itoa(next), strconv.FormatInt(used, 10), strconv.FormatInt(cache, 10))
			}
			n.Machine.slowly = n.clock.Now().Add(time.Second) // a reading in which no group has its turn
			n.read()
			pod, container := n.last.Pods[1].Counter, n.last.Containers[2].Counter
			if diff := cmp.Diff(pod, container); diff != "" || pod.CPU != time.Duration(next)*time.Millisecond {
				t.Errorf("version %d: after %d ms (-pod +container):\n%s", version, next, diff)
			}
			return pod
		}
		if got := step(150000000, 20000000); got.Memory != 130000000 || got.Cache != 20000000 {
			t.Errorf("version %d: much moved: %+v", version, got)
		}
		if got := step(150100000, 20100000); got.Memory != 130100000 || got.Cache != 20000000 {
			t.Errorf("version %d: little moved: %+v", version, got)
		}
		if got := step(40000000, 20000000); got.Memory != 20000000 || got.Cache != 20000000 {
			t.Errorf("version %d: much went: %+v", version, got)
		}
		step(40100000, 20100000)
		for range Turns {
			n.read()
		}
		if got := n.last.Pods[1].Counter; got.Memory != 20000000 || got.Cache != 20100000 {
			t.Errorf("version %d: after its turn: %+v", version, got)
		}
	}
}

// TestAContainerThatStartsAnewIsReadAtOnce although it has another cgroup and used less than the one before.
func TestAContainerThatStartsAnewIsReadAtOnce(t *testing.T) {
	n := newIdleNode(t, cgroup.V2, 2)
	n.kernel.Remove(n.containers(1)[0])
	anew := n.pod(1) + "/" + fmt.Sprintf("%064x", 99)
	show(n.kernel, cgroup.V2, anew, "3", "7000000", "0")
	show(n.kernel, cgroup.V2, n.pod(1), "23", "50000000", "10000000")
	n.read()
	if got := n.last.Containers; len(got) != 4 || got[3].ID != fmt.Sprintf("%064x", 99) || got[3].CPU != 3*time.Millisecond || got[3].Memory != 7000000 {
		t.Errorf("containers %+v", got)
	}
}

// folder counts the directories in it.
type folder struct{ names []string }

func (f *folder) Links() (uint64, error) { return uint64(len(f.names)) + 2, nil }
func (*folder) Close() error             { return nil }

// folders are a tree with one directory, which may be replaced.
type folders struct {
	files.FS
	here  *folder
	lists int
}

func (f *folders) OpenDirectory(string) (files.Directory, error) { return f.here, nil }
func (f *folders) Directories(string) ([]string, error) {
	f.lists++
	return slices.Clone(f.here.names), nil
}

// TestADirectoryThatIsReplacedIsFollowed, and not the one that is kept open.
func TestADirectoryThatIsReplacedIsFollowed(t *testing.T) {
	tree := &folders{here: &folder{names: []string{"a"}}}
	l := &listing{}
	at := now
	want := func(wantLists int, want ...string) {
		t.Helper()
		before := tree.lists
		if _, err := l.refresh(tree, at); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, l.names); diff != "" || tree.lists-before != wantLists {
			t.Errorf("listed %d times, want %d; names (-want +got):\n%s", tree.lists-before, wantLists, diff)
		}
		at = at.Add(time.Second)
	}
	want(1, "a")
	want(0, "a")
	tree.here = &folder{names: []string{"b", "c"}}
	want(0, "a") // the change has not been noticed yet
	at = at.Add(listInterval)
	want(1, "b", "c")
	want(1, "b", "c") // it counts otherwise
	want(0, "b", "c")
	tree.here.names = append(tree.here.names, "d")
	want(1, "b", "c", "d")
	want(0, "b", "c", "d")
}
