package oomreport

import (
	"context"
	"fmt"
	"path"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"koordinator.sh/koord/agent/connection"
	"koordinator.sh/koord/agent/connection/connectiontest"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/kernelfs"
	"koordinator.sh/koord/agent/state"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/cpuset"
)

const nodeName = "node"

// recorder keeps events as lines.
type recorder struct {
	mu    sync.Mutex
	lines []string
}

// Eventf implements events.EventRecorder.
func (r *recorder) Eventf(regarding, _ runtime.Object, eventtype, reason, action, note string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	on := regarding.(*corev1.ObjectReference)
	r.lines = append(r.lines, strings.TrimSpace(fmt.Sprintf("%s %s %s %s/%s %s", eventtype, reason, action, on.Namespace, on.Name, on.FieldPath))+": "+fmt.Sprintf(note, args...))
}

// taken returns the events since it was called last.
func (r *recorder) taken() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.lines
	r.lines = nil
	return out
}

// rig is a reporter on an imitation of the kernel, with an API server in memory. It is made in a bubble, whose time is its clock.
type rig struct {
	*testing.T
	server   *connectiontest.Server
	kernel   *kernelfs.Tree
	layout   cgroup.Layout
	recorder *recorder
	reporter *Reporter
	cluster  *state.State
}

var layouts = []cgroup.Layout{{Version: cgroup.V1, Driver: cgroup.Cgroupfs}, {Version: cgroup.V2, Driver: cgroup.Systemd}}

// inBubbles runs a test on both versions of cgroups.
func inBubbles(t *testing.T, test func(r *rig)) {
	for _, layout := range layouts {
		t.Run(fmt.Sprintf("v%d", layout.Version), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &rig{T: t, server: connectiontest.New(), kernel: kernelfs.New(layout.Version, cpuset.Of(0)), layout: layout, recorder: &recorder{}}
				clients, err := connection.New(r.server.Config(), "test", 1000)
				if err == nil {
					r.cluster, err = state.New(clients, nodeName)
				}
				if err != nil {
					t.Fatal(err)
				}
				r.put("nodes", &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName}})
				r.put("nodeslos", &slov1alpha1.NodeSLO{ObjectMeta: metav1.ObjectMeta{Name: nodeName}})
				r.reporter = New(Options{Tree: r.kernel, Layout: layout, Events: r.recorder, Clock: clock.RealClock{}})
				ctx, cancel := context.WithCancel(t.Context())
				var group sync.WaitGroup
				group.Go(func() { r.cluster.Run(ctx) })
				group.Go(func() { r.reporter.Run(ctx, r.cluster) })
				defer group.Wait()
				defer cancel()
				r.after(time.Second)
				test(r)
			})
		})
	}
}

func (r *rig) put(resource string, object any) {
	r.Helper()
	if err := r.server.Put(resource, object); err != nil {
		r.Fatal(err)
	}
}

// after lets time pass.
func (r *rig) after(d time.Duration) {
	time.Sleep(d) // the bubble's time
	synctest.Wait()
}

// id of a container.
func id(digit string) string { return strings.Repeat(digit, 64) }

// pod has containers, a container of each kind by default. They run, with IDs of their first letters.
func (r *rig) pod(name string, change func(*corev1.Pod)) *corev1.Pod {
	list := func(name corev1.ResourceName) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{Limits: corev1.ResourceList{name: resource.MustParse("128Mi")}}
	}
	status := func(name string) []corev1.ContainerStatus {
		return []corev1.ContainerStatus{{Name: name, ContainerID: "containerd://" + id(name[:1]), State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(name)},
		Spec: corev1.PodSpec{
			NodeName: nodeName, InitContainers: []corev1.Container{{Name: "b-init", Resources: list(extension.BatchMemory)}},
			Containers: []corev1.Container{{Name: "a-main", Resources: list(corev1.ResourceMemory)}},
		},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, QOSClass: corev1.PodQOSBurstable, InitContainerStatuses: status("b-init"), ContainerStatuses: status("a-main"),
			EphemeralContainerStatuses: status("e-debug"),
		},
	}
	if change != nil {
		change(pod)
	}
	for _, digit := range []string{"a", "b", "e", "f"} {
		r.kernel.Make(r.container(pod.UID, digit))
	}
	return pod
}

func (r *rig) container(uid types.UID, digit string) string {
	name := id(digit)
	if r.layout.Driver == cgroup.Systemd {
		name = "cri-containerd-" + name + ".scope"
	}
	return path.Join(r.layout.Pod(corev1.PodQOSBurstable, uid), name)
}

// settled lets the counters be read and the container be looked for.
func (r *rig) settled() { r.after(22 * time.Second) }

// expect compares the events since the previous call, and the counts of pod web.
func (r *rig) expect(what string, wantEvents []string, wantCounts map[string]int64) {
	r.Helper()
	if diff := cmp.Diff(wantEvents, r.recorder.taken()); diff != "" {
		r.Errorf("%s: events (-want +got):\n%s", what, diff)
	}
	if diff := cmp.Diff(wantCounts, r.reporter.Counts("web")); diff != "" {
		r.Errorf("%s: counts (-want +got):\n%s", what, diff)
	}
}

const onWeb = "Warning OOMKilling ReportOOMKill shop/web"

func TestKillsAreReportedWithTheirContainer(t *testing.T) {
	tests := map[string]struct {
		at         string
		processes  int64
		change     func(*corev1.Pod)
		wantName   string
		wantEvents []string
	}{
		"a process of a container": {
			"a", 1, nil, "a-main", []string{onWeb + ` spec.containers{a-main}: Out of memory: kernel killed 1 process in container "a-main" (memory limit 128Mi)`},
		},
		"processes of an init container with batch memory": {
			"b", 3, nil, "b-init", []string{onWeb + ` spec.initContainers{b-init}: Out of memory: kernel killed 3 processes in container "b-init" (kubernetes.io/batch-memory limit 128Mi)`},
		},
		"an ephemeral container": {
			"e", 1, nil, "e-debug", []string{onWeb + ` spec.ephemeralContainers{e-debug}: Out of memory: kernel killed 1 process in container "e-debug" (no memory limit)`},
		},
		"a container that no status has": {"f", 1, nil, "", []string{onWeb + `: Out of memory: kernel killed 1 process in the pod`}},
		"a container that has ended since": {
			"a", 1, func(pod *corev1.Pod) {
				pod.Status.ContainerStatuses[0].ContainerID = ""
				pod.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ContainerID: "containerd://" + id("a")}}
			}, "a-main", []string{onWeb + ` spec.containers{a-main}: Out of memory: kernel killed 1 process in container "a-main" (memory limit 128Mi)`},
		},
		"a container that was restarted since": {
			"a", 1, func(pod *corev1.Pod) {
				pod.Status.ContainerStatuses[0].ContainerID = "containerd://" + id("c")
				pod.Status.ContainerStatuses[0].LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ContainerID: "containerd://" + id("a")}
			}, "a-main", []string{onWeb + ` spec.containers{a-main}: Out of memory: kernel killed 1 process in container "a-main" (memory limit 128Mi)`},
		},
		"a pod that has failed since": {
			"a", 1, func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodFailed }, "a-main",
			[]string{onWeb + ` spec.containers{a-main}: Out of memory: kernel killed 1 process in container "a-main" (memory limit 128Mi)`},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			inBubbles(t, func(r *rig) {
				r.put("pods", r.pod("web", tc.change))
				r.put("pods", r.pod("other", nil))
				r.settled()
				r.kernel.KillForMemory(r.container("web", tc.at), tc.processes)
				r.settled()
				r.expect(name, tc.wantEvents, map[string]int64{tc.wantName: tc.processes})
				if got := r.reporter.State(); !got.Running || got.Killed != tc.processes || got.Latest.IsZero() {
					t.Errorf("state %+v", got)
				}
			})
		})
	}
}

// TestThereIsOneEventForAContainerAndMinute of all that was killed meanwhile, and every kill is counted.
func TestThereIsOneEventForAContainerAndMinute(t *testing.T) {
	inBubbles(t, func(r *rig) {
		r.put("pods", r.pod("web", nil))
		r.settled()
		main, sidecar := r.container("web", "a"), r.container("web", "b")
		event := func(processes string) string {
			return onWeb + ` spec.containers{a-main}: Out of memory: kernel killed ` + processes + ` in container "a-main" (memory limit 128Mi)`
		}
		r.kernel.KillForMemory(main, 1)
		r.after(11 * time.Second)
		r.expect("the first kill", []string{event("1 process")}, map[string]int64{"a-main": 1})
		for range 3 {
			r.kernel.KillForMemory(main, 2)
			r.after(11 * time.Second)
		}
		r.expect("more of them within a minute", nil, map[string]int64{"a-main": 7})
		r.kernel.KillForMemory(sidecar, 1)
		r.after(11 * time.Second)
		r.expect("another container", []string{
			onWeb + ` spec.initContainers{b-init}: Out of memory: kernel killed 1 process in container "b-init" (kubernetes.io/batch-memory limit 128Mi)`,
		}, map[string]int64{"a-main": 7, "b-init": 1})
		r.after(30 * time.Second)
		r.expect("the minute is over", []string{event("6 processes")}, map[string]int64{"a-main": 7, "b-init": 1})
		r.after(10 * time.Minute)
		r.expect("nothing more is killed", nil, map[string]int64{"a-main": 7, "b-init": 1})
	})
}

// TestAContainerIsLookedForUntilItsStatusIsThere because kubelet reports it after it started.
func TestAContainerIsLookedForUntilItsStatusIsThere(t *testing.T) {
	inBubbles(t, func(r *rig) {
		pod := r.pod("web", nil)
		late := pod.DeepCopy()
		late.Status.ContainerStatuses = nil
		r.put("pods", late)
		r.settled()
		r.kernel.KillForMemory(r.container("web", "a"), 1)
		r.after(11 * time.Second)
		r.expect("kubelet has not reported the container", nil, map[string]int64{})
		r.put("pods", pod)
		r.after(3 * time.Second)
		r.expect("it has", []string{onWeb + ` spec.containers{a-main}: Out of memory: kernel killed 1 process in container "a-main" (memory limit 128Mi)`},
			map[string]int64{"a-main": 1})
	})
}

func TestPodsThatWereDeletedAreForgotten(t *testing.T) {
	inBubbles(t, func(r *rig) {
		r.put("pods", r.pod("web", nil))
		r.settled()
		r.kernel.KillForMemory(r.container("web", "a"), 1)
		r.settled()
		r.recorder.taken()
		r.kernel.Remove(r.layout.Pod(corev1.PodQOSBurstable, "web"))
		replaced := r.pod("web", func(pod *corev1.Pod) { pod.UID = "another" })
		r.put("pods", replaced)
		r.after(2 * time.Minute)
		r.expect("a pod of the same name", nil, map[string]int64{})
		r.reporter.mu.Lock()
		defer r.reporter.mu.Unlock()
		if left := len(r.reporter.tallies) + len(r.reporter.unassigned); left > 0 {
			t.Errorf("%d containers of deleted pods are remembered", left)
		}
	})
}

// TestAPodThatNobodyKnowsIsGivenUp, and its kills are counted for the node.
func TestAPodThatNobodyKnowsIsGivenUp(t *testing.T) {
	inBubbles(t, func(r *rig) {
		r.pod("web", nil) // it has cgroups only
		r.settled()
		r.kernel.KillForMemory(r.container("web", "a"), 2)
		r.settled()
		r.expect("nobody knows the pod", nil, map[string]int64{})
		r.reporter.mu.Lock()
		defer r.reporter.mu.Unlock()
		if len(r.reporter.unassigned) > 0 || r.reporter.killed != 2 {
			t.Errorf("%d kills wait for their pod, %d were found", len(r.reporter.unassigned), r.reporter.killed)
		}
	})
}
