package resctrl

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"koordinator.sh/koord/agent/audit"
	"koordinator.sh/koord/agent/checkpoint"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/agent/host/kernelfs"
	"koordinator.sh/koord/agent/host/resctrl"
	"koordinator.sh/koord/agent/host/resctrl/resctrlfs"
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/agent/state"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/cpuset"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// node is an imitated machine with an agent's reconciler.
type node struct {
	t          *testing.T
	tree       *resctrlfs.Tree
	cgroups    *kernelfs.Tree
	layout     cgroup.Layout
	proc       *files.Real
	directory  string
	log        *audit.Log
	reconciler *Reconciler
	in         qos.NodeSnapshot
}

func newNode(t *testing.T, processor resctrlfs.Processor, vendor string) *node {
	t.Helper()
	directory := t.TempDir()
	n := &node{t: t, directory: directory}
	for path, content := range map[string]string{
		"cpuinfo": "processor\t: 0\n" + vendor + "\n", "sys/kernel/random/boot_id": "one\n", "self/mounts": "resctrl /sys/fs/resctrl resctrl rw 0 0\n",
	} {
		n.file(path, content)
	}
	proc, err := files.NewReal(filepath.Join(directory, "proc"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = proc.Close() })
	n.tree, n.cgroups, n.layout = resctrlfs.New(processor), kernelfs.New(cgroup.V2, cpuset.Of(0, 1)), cgroup.Layout{Version: cgroup.V2, Driver: cgroup.Cgroupfs}
	n.proc, n.log = proc, audit.NewLog(1000)
	n.in = qos.NodeSnapshot{Now: noon, SLO: &slov1alpha1.NodeSLOSpec{}, Tree: n.cgroups, Layout: n.layout, Containers: qos.NewContainers(n.cgroups, n.layout)}
	n.restart(Options{Classes: true, Pods: true, Counters: true})
	return n
}

// file writes one below /proc.
func (n *node) file(path, content string) {
	n.t.Helper()
	at := filepath.Join(n.directory, "proc", path)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		n.t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(content), 0o644); err != nil {
		n.t.Fatal(err)
	}
}

func (n *node) restart(options Options) {
	n.t.Helper()
	options.Open, options.Proc, options.Audit = func() (resctrl.Tree, error) { return n.tree, nil }, n.proc, n.log
	options.Originals, options.Clock = checkpoint.File{Path: filepath.Join(n.directory, "resctrl.json")}, clocktesting.NewFakePassiveClock(noon)
	var err error
	if n.reconciler, err = New(options); err != nil {
		n.t.Fatal(err)
	}
}

// pod runs with threads in its only container.
func (n *node) pod(uid, class string, annotations map[string]string, threads ...int) {
	id := strings.Repeat("0", 64-len(uid)) + strings.Map(func(r rune) rune { return 'a' + r%6 }, uid)
	pod := state.PodOf(&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: uid, Namespace: "ns", UID: types.UID(uid), Labels: map[string]string{extension.LabelPodQoS: class}, Annotations: annotations},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, QOSClass: corev1.PodQOSBurstable, ContainerStatuses: []corev1.ContainerStatus{{
			Name: "main", ContainerID: "containerd://" + id, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
		}}},
	})
	n.in.Pods = append(n.in.Pods, pod)
	at := n.layout.Pod(pod.Class(), pod.UID) + "/" + id
	n.cgroups.Make(at)
	n.tree.Start(threads...)
	n.runs(uid, threads...)
}

// runs says which threads are in the container of a pod.
func (n *node) runs(uid string, threads ...int) {
	for _, pod := range n.in.Pods {
		if string(pod.UID) == uid {
			_, id, _ := strings.Cut(pod.Object.Status.ContainerStatuses[0].ContainerID, "://")
			at := n.layout.Pod(pod.Class(), pod.UID) + "/" + id
			n.cgroups.Show(at, "cgroup.threads", strings.Trim(fmt.Sprint(threads), "[]"))
			for _, thread := range threads {
				n.file(fmt.Sprintf("%d/cgroup", thread), "0::/"+at+"\n")
			}
		}
	}
}

// keep has the reconciler run ten seconds later.
func (n *node) keep() error {
	n.in.Now = n.in.Now.Add(reconcileInterval)
	return n.reconciler.Reconcile(n.t.Context(), n.in)
}

func (n *node) kept() {
	n.t.Helper()
	if err := n.keep(); err != nil {
		n.t.Fatal(err)
	}
}

func (n *node) want(want map[string]string) {
	n.t.Helper()
	if diff := cmp.Diff(want, collapse(n.tree.Dump())); diff != "" {
		n.t.Errorf("resctrl (-want +got):\n%s", diff)
	}
}

func collapse(dump map[string]string) map[string]string {
	for path, content := range dump {
		dump[path] = oneLine(content)
	}
	return dump
}

func share(start, end, bandwidth int64) *slov1alpha1.ResourceQOS {
	return &slov1alpha1.ResourceQOS{ResctrlQOS: &slov1alpha1.ResctrlQOSCfg{Enable: new(true), ResctrlQOS: slov1alpha1.ResctrlQOS{
		CATRangeStartPercent: &start, CATRangeEndPercent: &end, MBAPercent: &bandwidth,
	}}}
}

const (
	intel = "vendor_id\t: GenuineIntel"
	amd   = "vendor_id\t: AuthenticAMD"
	arm   = "CPU implementer\t: 0x41"
	free  = "L3:0=7ff;1=7ff MB:0=100;1=100"
)

func TestClassesGetTheirShares(t *testing.T) {
	intelWithCodeAndData, fine, coarse := resctrlfs.Intel, resctrlfs.Intel, resctrlfs.Intel
	intelWithCodeAndData.CodeAndData, fine.Step, fine.Least = true, 1, 1
	coarse.Step, coarse.Least, coarse.Quantum = 1, 1, 7
	tests := map[string]struct {
		processor resctrlfs.Processor
		vendor    string
		want      string
	}{
		"Intel":                             {resctrlfs.Intel, intel, "L3:0=00f;1=00f MB:0= 40;1= 40"},
		"Intel that tells code from data":   {intelWithCodeAndData, intel, "L3CODE:0=00f;1=00f L3DATA:0=00f;1=00f MB:0= 40;1= 40"},
		"AMD":                               {resctrlfs.AMD, amd, "L3:0=001f;1=001f MB:0=  51;1=  51"},
		"ARM with steps of one percent":     {fine, arm, "L3:0=00f;1=00f MB:0= 32;1= 32"},
		"ARM that rounds more than it says": {coarse, arm, "L3:0=00f;1=00f MB:0= 35;1= 35"},
		"a vendor that is not known: cache": {resctrlfs.Intel, "vendor_id\t: Somebody", "L3:0=00f;1=00f MB:0=100;1=100"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			n := newNode(t, tc.processor, tc.vendor)
			before := n.tree.Dump()
			n.in.SLO.ResourceQOSStrategy = &slov1alpha1.ResourceQOSStrategy{BEClass: share(0, 30, 32)}
			n.pod("batch", "BE", nil, 10, 11)
			n.pod("web", "LS", nil, 20)
			n.kept()
			dump := collapse(n.tree.Dump())
			if got := dump["BE/schemata"]; got != oneLine(tc.want) || dump["BE/tasks"] != "10 11" {
				t.Errorf("%q with threads %q, want %q with 10 11", got, dump["BE/tasks"], tc.want)
			}
			n.tree.Writes()
			n.kept()
			if writes := n.tree.Writes(); len(writes) > 0 {
				t.Errorf("written again though nothing changed: %q", writes)
			}
			if err := n.reconciler.Restore(t.Context()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before, n.tree.Dump()); diff != "" {
				t.Errorf("something is left (-before +after):\n%s", diff)
			}
		})
	}
}

func TestThreadsAreKeptInTheirGroup(t *testing.T) {
	n := newNode(t, resctrlfs.Intel, intel)
	n.in.SLO.ResourceQOSStrategy = &slov1alpha1.ResourceQOSStrategy{BEClass: share(0, 30, 100), LSClass: share(30, 100, 100)}
	n.pod("batch", "BE", nil, 10)
	n.kept()
	n.tree.Fork(10, 12) // inherits
	n.tree.Start(13)    // by the runtime
	n.runs("batch", 10, 12, 13, 14)
	n.tree.Writes()
	n.kept() // 14 has ended in between
	if diff := cmp.Diff([]string{"BE/tasks 13"}, n.tree.Writes()); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	n.in.Pods = nil
	n.pod("batch", "LS", nil) // the same container under another class
	n.runs("batch", 10, 12, 13)
	n.kept()
	if got := n.tree.Dump()["LS/tasks"]; got != "10 12 13" {
		t.Errorf("threads %q are in the new group, want 10 12 13", got)
	}
}

func TestAForeignGroupKeepsItsThreads(t *testing.T) {
	n := newNode(t, resctrlfs.Intel, intel)
	n.in.SLO.ResourceQOSStrategy = &slov1alpha1.ResourceQOSStrategy{BEClass: share(0, 30, 100)}
	n.pod("batch", "BE", nil, 10, 11)
	n.pod("classified", "BE", map[string]string{"rdt.resources.beta.kubernetes.io/pod": "gold"}, 20)
	if err := errors.Join(n.tree.Make("theirs"), n.tree.Write("theirs/tasks", "10")); err != nil {
		t.Fatal(err)
	}
	n.kept()
	n.want(map[string]string{"/schemata": free, "theirs/schemata": free, "theirs/tasks": "10", "BE/schemata": "L3:0=00f;1=00f MB:0=100;1=100", "BE/tasks": "11"})
}

func TestPodsWithSharesOfTheirOwn(t *testing.T) {
	small := resctrlfs.Intel
	small.Groups = 4
	annotation := func(json string) map[string]string { return map[string]string{extension.AnnotationResctrl: json} }
	n := newNode(t, small, intel)
	n.in.SLO.ResourceQOSStrategy = &slov1alpha1.ResourceQOSStrategy{BEClass: share(0, 30, 100)}
	n.pod("b", "BE", annotation(`{"llc":{"schemata":{"range":[0,20]}}}`), 10)
	n.pod("c", "LS", annotation(`{"mb":{"schemata":{"percent":20}}}`), 20)
	n.kept()
	n.pod("a", "BE", annotation(`{"llc":{"schemata":{"range":[0,10]}}}`), 30)
	n.kept() // its name is first, but others are there already
	n.want(map[string]string{
		"/schemata": free, "BE/schemata": "L3:0=00f;1=00f MB:0=100;1=100", "BE/tasks": "30",
		"koordlet-b/schemata": "L3:0=007;1=007 MB:0=100;1=100", "koordlet-b/tasks": "10",
		"koordlet-c/schemata": "L3:0=7ff;1=7ff MB:0= 20;1= 20", "koordlet-c/tasks": "20",
	})
	if problems := n.reconciler.State().Problems; len(problems) != 1 || !strings.Contains(problems[0], "koordlet-a") {
		t.Errorf("problems %q do not say that there is no room for koordlet-a", problems)
	}
	n.in.Pods = n.in.Pods[1:]
	n.kept() // b has gone, and makes room
	dump := n.tree.Dump()
	if dump["koordlet-a/tasks"] != "30" || dump["koordlet-b/schemata"] != "" {
		t.Errorf("groups %v", dump)
	}
}

func TestTheKernelHasLessRoomThanItSays(t *testing.T) {
	n := newNode(t, resctrlfs.Intel, intel)
	n.in.SLO.ResourceQOSStrategy = &slov1alpha1.ResourceQOSStrategy{BEClass: share(0, 30, 100), LSClass: share(30, 100, 100)}
	n.pod("batch", "BE", nil, 10)
	n.pod("web", "LS", nil, 20)
	n.tree.Fail(func(operation, path string) error {
		if operation == "make" && path == "LS" {
			return syscall.ENOSPC
		}
		return nil
	})
	n.kept()
	if dump := n.tree.Dump(); dump["BE/tasks"] != "10" || len(n.reconciler.State().Problems) != 1 {
		t.Errorf("%v, problems %q", dump, n.reconciler.State().Problems)
	}
	n.tree.Fail(nil)
	n.kept()
	if dump := n.tree.Dump(); dump["LS/tasks"] != "20" {
		t.Errorf("there is room, but not for LS: %v", dump)
	}
}

// TestAGroupThatCannotBeRemovedEndsTheRound, which would go on for ever otherwise, and the threads of others stay where they are.
func TestAGroupThatCannotBeRemovedEndsTheRound(t *testing.T) {
	n := newNode(t, resctrlfs.Intel, intel)
	n.in.SLO.ResourceQOSStrategy = &slov1alpha1.ResourceQOSStrategy{BEClass: share(0, 30, 100)}
	n.pod("batch", "BE", nil, 10)
	n.pod("own", "BE", map[string]string{extension.AnnotationResctrl: `{"mb":{"schemata":{"percent":20}}}`}, 11)
	n.kept()
	n.pod("web", "LS", nil, 20)
	n.tree.Fail(func(operation, _ string) error {
		return map[string]error{"make": syscall.ENOSPC, "remove": syscall.EBUSY}[operation]
	})
	n.in.SLO.ResourceQOSStrategy.LSClass = share(30, 100, 100)
	if err := n.keep(); !errors.Is(err, syscall.EBUSY) {
		t.Errorf("%v, want that a group cannot be removed", err)
	}
	if dump := n.tree.Dump(); dump["BE/tasks"] == "" || dump["LS/schemata"] != "" {
		t.Errorf("groups %v", dump)
	}
	n.tree.Fail(nil)
	n.kept()
	if dump := n.tree.Dump(); dump["LS/tasks"] != "20" || dump["koordlet-own/tasks"] != "11" {
		t.Errorf("groups %v after it is over", dump)
	}
}

// TestAClassTakesTheRoomOfAPod where the kernel has less room than it says: classes go first.
func TestAClassTakesTheRoomOfAPod(t *testing.T) {
	n := newNode(t, resctrlfs.Intel, intel)
	groups := 0
	n.tree.Fail(func(operation, _ string) error {
		switch {
		case operation == "make" && groups == 2:
			return syscall.ENOSPC
		case operation == "make":
			groups++
		case operation == "remove":
			groups--
		}
		return nil
	})
	n.in.SLO.ResourceQOSStrategy = &slov1alpha1.ResourceQOSStrategy{BEClass: share(0, 30, 100)}
	n.pod("batch", "BE", nil, 10)
	n.pod("web", "LS", map[string]string{extension.AnnotationResctrl: `{"mb":{"schemata":{"percent":20}}}`}, 20)
	n.kept()
	if got := n.tree.Dump()["koordlet-web/tasks"]; got != "20" {
		t.Fatalf("threads %q have shares of their own, want 20", got)
	}
	n.in.SLO.ResourceQOSStrategy.LSClass = share(30, 100, 100)
	n.kept()
	n.want(map[string]string{
		"/schemata": free, "BE/schemata": "L3:0=00f;1=00f MB:0=100;1=100", "BE/tasks": "10", "LS/schemata": "L3:0=7f0;1=7f0 MB:0=100;1=100", "LS/tasks": "20",
	})
	n.kept() // and that is where it stays
	if writes := n.tree.Writes(); slices.ContainsFunc(writes, func(w string) bool { return strings.HasPrefix(w, "remove LS") }) {
		t.Errorf("written were %q", writes)
	}
}

func TestAfterACrashEverythingIsGivenBack(t *testing.T) {
	n := newNode(t, resctrlfs.Intel, intel)
	if err := errors.Join(n.tree.Make("LS"), n.tree.Write("LS/schemata", "L3:0=3\n")); err != nil {
		t.Fatal(err)
	}
	before := n.tree.Dump()
	n.in.SLO.ResourceQOSStrategy = &slov1alpha1.ResourceQOSStrategy{BEClass: share(0, 30, 100), LSClass: share(30, 100, 100)}
	n.pod("batch", "BE", nil, 10)
	n.kept()
	n.restart(Options{}) // and now both gates are off
	if err := n.reconciler.Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, n.tree.Dump()); diff != "" {
		t.Errorf("something is left (-before +after):\n%s", diff)
	}
}

func TestAnotherBootOwesNothing(t *testing.T) {
	n := newNode(t, resctrlfs.Intel, intel)
	n.in.SLO.ResourceQOSStrategy = &slov1alpha1.ResourceQOSStrategy{BEClass: share(0, 30, 100)}
	n.pod("batch", "BE", nil, 10)
	n.kept()
	if err := os.WriteFile(filepath.Join(n.directory, "proc/sys/kernel/random/boot_id"), []byte("two\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	n.restart(Options{})
	if err := n.reconciler.Restore(t.Context()); err != nil || n.tree.Dump()["BE/schemata"] == "" {
		t.Errorf("a group of this boot was removed for one of the boot before: %v", err)
	}
}

func TestNothingIsMadeBeforeItIsOnDisk(t *testing.T) {
	n := newNode(t, resctrlfs.Intel, intel)
	n.restart(Options{Classes: true})
	n.reconciler.options.Originals = checkpoint.File{Path: filepath.Join(n.directory, "missing", "resctrl.json")}
	n.in.SLO.ResourceQOSStrategy = &slov1alpha1.ResourceQOSStrategy{BEClass: share(0, 30, 100)}
	if err := n.keep(); err == nil || len(n.tree.Writes()) > 0 {
		t.Errorf("written without an account of it: %v", err)
	}
}

func TestWhatIsUsed(t *testing.T) {
	n := newNode(t, resctrlfs.Intel, intel)
	n.in.SLO.ResourceQOSStrategy = &slov1alpha1.ResourceQOSStrategy{BEClass: share(0, 30, 100)}
	n.pod("batch", "BE", nil, 10)
	n.kept()
	n.tree.Count("BE", "llc_occupancy", 1, "Unavailable")
	n.kept()
	n.tree.Count("BE", "llc_occupancy", 0, "1000")
	n.tree.Count("BE", "mbm_total_bytes", 0, "5000")
	n.tree.Count("BE", "mbm_local_bytes", 1, "2000")
	n.kept()
	state := n.reconciler.State()
	if len(state.Groups) != 2 || state.Unavailable != "" {
		t.Fatalf("state %+v", state)
	}
	got := state.Groups[1]
	if got.Name != "BE" || !got.Own || got.Counters.Occupancy != 1000 || !got.Measured || got.TotalBandwidth != 500 || got.LocalBandwidth != 200 {
		t.Errorf("group %+v", got)
	}
}

func TestAMachineWithoutResctrl(t *testing.T) {
	n := newNode(t, resctrlfs.Intel, intel)
	n.in.SLO.ResourceQOSStrategy = &slov1alpha1.ResourceQOSStrategy{BEClass: share(0, 30, 100)}
	n.reconciler.options.Open = func() (resctrl.Tree, error) { return resctrl.Open(filepath.Join(n.directory, "none")) }
	n.kept()
	if n.reconciler.State().Unavailable == "" {
		t.Error("nobody says that there is no resctrl")
	}
	n.reconciler.options.Open = func() (resctrl.Tree, error) { return resctrl.Open(n.directory) }
	n.kept()
	if !strings.Contains(n.reconciler.State().Unavailable, "not mounted") {
		t.Errorf("%q does not say that it is not mounted", n.reconciler.State().Unavailable)
	}
}
