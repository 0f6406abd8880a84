package coresched

import (
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
	"koordinator.sh/koord/agent/executor"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/coresched"
	"koordinator.sh/koord/agent/host/coresched/coreschedfake"
	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/agent/host/kernelfs"
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/agent/state"
	"koordinator.sh/koord/api/configuration"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/cpuset"
)

// node is an imitated machine.
type node struct {
	t          *testing.T
	kernel     *coreschedfake.Kernel
	cgroups    *kernelfs.Tree
	directory  string
	log        *audit.Log
	reconciler *Reconciler
	in         qos.NodeSnapshot
}

func newNode(t *testing.T) *node {
	t.Helper()
	n := &node{t: t, kernel: coreschedfake.New(), cgroups: kernelfs.New(cgroup.V2, cpuset.Of(0, 1)), directory: t.TempDir(), log: audit.NewLog(100)}
	n.file("sys/kernel/random/boot_id", "one\n")
	layout := cgroup.Layout{Version: cgroup.V2, Driver: cgroup.Cgroupfs}
	strategy := configuration.DefaultResourceQOSStrategy()
	strategy.Policies.CPUPolicy = new(slov1alpha1.CPUQOSPolicyCoreSched)
	strategy.LSClass.CPUQOS.Enable, strategy.BEClass.CPUQOS.Enable = new(true), new(true)
	strategy.BEClass.CPUQOS.SchedIdle = new(int64(1))
	n.in = qos.NodeSnapshot{
		Now: time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC), SLO: &slov1alpha1.NodeSLOSpec{ResourceQOSStrategy: strategy}, Tree: n.cgroups, Layout: layout,
		Containers: qos.NewContainers(n.cgroups, layout),
	}
	n.restart()
	return n
}

func (n *node) file(path, content string) {
	n.t.Helper()
	path = filepath.Join(n.directory, "proc", path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		n.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		n.t.Fatal(err)
	}
}

func (n *node) restart() {
	n.t.Helper()
	proc, err := files.NewReal(filepath.Join(n.directory, "proc"))
	if err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(func() { _ = proc.Close() })
	n.reconciler, err = New(Options{Kernel: n.kernel, Proc: proc, Cookies: checkpoint.File{Path: filepath.Join(n.directory, "cookies.json")}, Audit: n.log, Clock: clocktesting.NewFakePassiveClock(n.in.Now)})
	if err != nil {
		n.t.Fatal(err)
	}
}

// pod runs with a process in its only container, which may have more threads.
func (n *node) pod(uid, class, group string, process int, threads ...int) {
	id := strings.Repeat("0", 60) + fmt.Sprintf("%04x", process)
	pod := state.PodOf(&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: uid, Namespace: "ns", UID: types.UID(uid), Labels: map[string]string{
			extension.LabelPodQoS: class, extension.LabelCoreSchedGroupID: group,
		}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, QOSClass: corev1.PodQOSBurstable, ContainerStatuses: []corev1.ContainerStatus{{
			Name: "main", ContainerID: "containerd://" + id, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
		}}},
	})
	n.in.Pods = append(n.in.Pods, pod)
	n.cgroups.Make(n.in.Layout.Pod(pod.Class(), pod.UID) + "/" + id)
	n.kernel.Start(process, threads...)
	n.runs(len(n.in.Pods)-1, []int{process}, append([]int{process}, threads...))
}

// runs says what is in the container of a pod.
func (n *node) runs(pod int, processes, threads []int) {
	p := n.in.Pods[pod]
	_, id, _ := strings.Cut(p.Object.Status.ContainerStatuses[0].ContainerID, "://")
	at := n.in.Layout.Pod(p.Class(), p.UID) + "/" + id
	n.cgroups.Show(at, "cgroup.procs", strings.Trim(fmt.Sprint(processes), "[]"))
	n.cgroups.Show(at, "cgroup.threads", strings.Trim(fmt.Sprint(threads), "[]"))
	for _, thread := range threads {
		n.file(fmt.Sprintf("%d/cgroup", thread), "0::/"+at+"\n")
		n.file(fmt.Sprintf("%d/task/%d/stat", processes[0], thread), "")
	}
}

func (n *node) kept() {
	n.t.Helper()
	n.in.Now = n.in.Now.Add(reconcileInterval)
	if err := n.reconciler.Reconcile(n.t.Context(), n.in); err != nil {
		n.t.Fatal(err)
	}
}

// alike names cookies in the order of their threads, so that equal ones are seen.
func (n *node) alike() string {
	names, out := map[uint64]string{}, []string{}
	cookies := n.kernel.Cookies()
	for thread := range 100 {
		if cookie := cookies[thread]; cookie != 0 {
			if names[cookie] == "" {
				names[cookie] = string(rune('A' + len(names)))
			}
			out = append(out, fmt.Sprintf("%d%s", thread, names[cookie]))
		}
	}
	return strings.Join(out, " ")
}

func (n *node) want(want, when string) {
	n.t.Helper()
	if got := n.alike(); got != want {
		n.t.Errorf("%s: cookies %q, want %q", when, got, want)
	}
}

func TestGroupsHaveCookies(t *testing.T) {
	n := newNode(t)
	n.pod("web", "LS", "team", 10, 11, 12)
	n.pod("api", "LS", "team", 20)
	n.pod("batch", "BE", "team", 30, 31)
	n.pod("system", "SYSTEM", "", 40)
	n.kept()
	n.want("10A 11A 12A 20A 30B 31B", "at first")
	changes := n.kernel.Changes()
	n.kept()
	if again := n.kernel.Changes(); again != changes {
		t.Errorf("%d calls changed something though nothing changed", again-changes)
	}

	n.kernel.Fork(10, 13, true) // inherits
	n.kernel.Start(14)          // by the runtime
	n.runs(0, []int{10, 14}, []int{10, 11, 12, 13, 14})
	n.kept()
	n.want("10A 11A 12A 13A 14A 20A 30B 31B", "after another process was started in the container")

	n.in.Pods[1].Object.Labels[extension.LabelCoreSchedPolicy] = "exclusive"
	n.in.Pods[2].Object.Labels[extension.LabelCoreSchedPolicy] = "none"
	n.kept()
	n.want("10A 11A 12A 13A 14A 20B", "after one left the group and one wants none")
	if err := n.reconciler.Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	n.want("", "after all was given back")
}

func TestACookieOfOnesOwnIsKept(t *testing.T) {
	n := newNode(t)
	n.pod("vm", "LS", "team", 10, 11)
	n.kernel.Choose(11)
	n.kept()
	n.want("10A 11B", "the process got the group's, the virtual CPU keeps its own")
}

func TestAfterARestartCookiesStay(t *testing.T) {
	n := newNode(t)
	n.pod("web", "LS", "team", 10)
	n.pod("api", "LS", "team", 20)
	n.kept()
	changes := n.kernel.Changes()
	n.restart()
	n.kept()
	if again := n.kernel.Changes(); again != changes {
		t.Errorf("%d calls changed cookies of the agent's own", again-changes)
	}
	n.restart()
	entries := len(n.log.After(0, 100))
	if err := n.reconciler.Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	n.want("", "a new agent took all cookies away")
	var audited []string
	for _, entry := range n.log.After(uint64(entries), 100) {
		audited = append(audited, entry.Object)
		if entry.Time.IsZero() || entry.Old == "" || entry.New != "0" || entry.Error != "" {
			t.Errorf("audited %+v", entry)
		}
	}
	slices.Sort(audited)
	want := []string{"core scheduling cookie of 1 threads of process 10", "core scheduling cookie of 1 threads of process 20"}
	if diff := cmp.Diff(want, audited); diff != "" {
		t.Errorf("audited (-want +got):\n%s", diff)
	}
}

// TestAContainerThatStartsAgainGetsTheCookieOfItsGroup, though its pod is one that the agent knows; also where it was the only one of
// the group.
func TestAContainerThatStartsAgainGetsTheCookieOfItsGroup(t *testing.T) {
	n := newNode(t)
	n.pod("web", "LS", "team", 10, 11)
	n.pod("api", "LS", "team", 20)
	n.pod("alone", "LS", "others", 30)
	n.kept()
	n.want("10A 11A 20A 30B", "at first")
	for i, process := range map[int]int{0: 50, 2: 60} {
		pod := n.in.Pods[i]
		again, group := pod.Object.DeepCopy(), n.in.Layout.Pod(pod.Class(), pod.UID)
		status := &again.Status.ContainerStatuses[0]
		n.cgroups.Remove(group + "/" + strings.TrimPrefix(status.ContainerID, "containerd://"))
		id := strings.Repeat("f", 60) + fmt.Sprintf("%04x", process)
		status.ContainerID = "containerd://" + id
		n.in.Pods[i] = state.PodOf(again)
		n.cgroups.Make(group + "/" + id)
		n.kernel.Start(process)
		n.runs(i, []int{process}, []int{process})
	}
	for _, ended := range []int{10, 11, 30} {
		n.kernel.End(ended)
	}
	n.kept()
	n.want("20A 50A 60B", "after two containers were started again")
}

// TestAForeignProcessIsLeftAlone ends a thread in the middle of the call and gives its number to somebody else.
func TestAForeignProcessIsLeftAlone(t *testing.T) {
	n := newNode(t)
	n.pod("web", "LS", "team", 10)
	n.kernel.Before(func(coresched.Command, int) {
		n.kernel.Before(nil)
		n.kernel.End(10)
		n.kernel.Start(10)
		n.file("10/cgroup", "0::/system.slice/sshd.service\n")
	})
	n.kept()
	n.want("", "somebody else has the number")
	n.kernel.Before(nil)
	n.kept()
	n.want("", "the number is in the list of the container still, but the process is not in it")
}

func TestAKernelWithout(t *testing.T) {
	for _, missing := range []syscall.Errno{syscall.EINVAL, syscall.ENODEV} {
		n := newNode(t)
		n.kernel.Lack(missing)
		n.pod("web", "LS", "team", 10)
		n.kept()
		if n.reconciler.State().Unavailable == "" || n.kernel.Changes() > 0 {
			t.Errorf("%v: %+v", missing, n.reconciler.State())
		}
	}
}

func TestARefusalIsTold(t *testing.T) {
	n := newNode(t)
	n.pod("web", "LS", "team", 10)
	n.kernel.Before(func(coresched.Command, int) { n.kernel.Guard(10) })
	n.in.Now = n.in.Now.Add(reconcileInterval)
	if err := n.reconciler.Reconcile(t.Context(), n.in); err == nil {
		t.Error("a refusal is no error")
	}
	if entries := n.log.After(0, 10); len(entries) != 1 || entries[0].Error == "" {
		t.Errorf("audit %+v", entries)
	}
}

func TestIdlePods(t *testing.T) {
	n := newNode(t)
	n.pod("web", "LS", "team", 10)
	n.pod("batch", "BE", "team", 20)
	want := []executor.DesiredValue{{Setting: cgroup.CPUIdle, Cgroup: "kubepods/burstable/podbatch", Value: "1", Why: "idle under core scheduling"}}
	if diff := cmp.Diff(want, n.reconciler.DesiredValues(n.in), cmp.Comparer(func(a, b cgroup.Setting) bool { return a == b })); diff != "" {
		t.Errorf("desired values (-want +got):\n%s", diff)
	}
}
