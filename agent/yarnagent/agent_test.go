package yarnagent

import (
	"errors"
	"io"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"koordinator.sh/koord/agent/copilot"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/test/eventually"
)

const (
	master = "container_1764272000000_0001_01_000001"
	first  = "container_1764272000000_0001_01_000002"
	second = "container_e17_1764272000000_0001_01_000003"
)

func TestContainersAreAdoptedIntoBestEffortCgroups(t *testing.T) {
	onBoth(t, func(r *rig) {
		r.manager.has(first, 2, 1024)
		r.manager.has(master, 1, 512)
		r.manager.has(second, 1, 512) // without processes
		task, other := r.start(first, "sleep", "300"), r.start(first, "sleep", "300")
		r.start(master, "sleep", "300")
		got, err := r.serve().Containers(r.Context())
		if err != nil {
			r.Fatal(err)
		}
		if diff := cmp.Diff([]string{master, first}, names(got)); diff != "" {
			r.Fatalf("containers (-want +got):\n%s", diff)
		}
		for _, directory := range r.groups.hierarchies(above + "/" + first) {
			if pids := r.kernel.processes(directory); len(pids) != 2 {
				r.Errorf("%s has processes %v, want %d and %d", directory, pids, task.Process.Pid, other.Process.Pid)
			}
		}
		if got[1].CgroupDir != path.Join(above, first) || got[1].Namespace != "yarn" || got[1].Labels[labelApplication] != "application_1764272000000_0001" {
			r.Errorf("container = %+v", got[1])
		}
		if amount := copilot.AmountOf(got[1].Resources.Requests); amount != (podrequest.Amount{MilliCPU: 2000, Memory: 1 << 30}) {
			r.Errorf("resources = %+v", amount)
		}
		if age := time.Since(got[1].CreateTimestamp); age < -2*time.Second || age > time.Minute {
			r.Errorf("the container is %s old", age)
		}
		if got[0].Priority != got[1].Priority+1 || got[0].Labels[labelMaster] != "true" {
			r.Errorf("priority %d of the application master, %d of the other", got[0].Priority, got[1].Priority)
		}
	})
}

func TestVCoresThatAreLessThanACore(t *testing.T) {
	onBoth(t, func(r *rig) {
		r.perVCore = 250
		r.manager.has(first, 2, 1024)
		r.start(first, "sleep", "300")
		got, err := r.serve().Containers(r.Context())
		if err != nil || len(got) != 1 {
			r.Fatalf("containers = %+v, %v; want one", got, err)
		}
		if amount := copilot.AmountOf(got[0].Resources.Requests); amount != (podrequest.Amount{MilliCPU: 500, Memory: 1 << 30}) {
			r.Errorf("resources = %+v", amount)
		}
	})
}

func TestAContainerIsKilledWithAllItsProcesses(t *testing.T) {
	onBoth(t, func(r *rig) {
		r.manager.has(first, 1, 512)
		r.manager.has(second, 1, 512)
		stubborn := r.start(first, "sh", "-c", "trap '' TERM; exec sleep 300")
		willing, other := r.start(first, "sleep", "300"), r.start(second, "sleep", "300")
		client := r.serve()
		if err := client.Kill(r.Context(), first); err != nil {
			r.Fatal(err)
		}
		eventually.True(r, "its processes end", func() bool { return !runs(stubborn.Process.Pid) && !runs(willing.Process.Pid) })
		if !runs(other.Process.Pid) {
			r.Error("a process of another container ended")
		}
		if err := client.Kill(r.Context(), first); !errors.Is(err, copilot.ErrNotFound) {
			r.Errorf("killing it again: %v, want that it is gone", err)
		}
	})
}

func TestContainersAreKilledUntilResourcesAreFree(t *testing.T) {
	for name, test := range map[string]struct {
		wanted     corev1.ResourceList
		wantKilled []string
	}{
		"one is enough, and the master stays": {wanted: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}, wantKilled: []string{second}},
		"the next one follows":                {wanted: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}, wantKilled: []string{second, first}},
		"all that there is":                   {wanted: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100")}, wantKilled: []string{second, first, master}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, cgroup.V2)
			for _, id := range []string{master, first, second} {
				r.manager.has(id, 1, 512)
				r.start(id, "sleep", "300")
			}
			client := r.serve()
			if _, err := client.Containers(t.Context()); err != nil {
				t.Fatal(err)
			}
			for id, used := range map[string]string{master: "1", first: "9000000", second: "5000000"} {
				r.kernel.Show(path.Join(above, id), "cpu.stat", "usage_usec "+used)
			}
			killed, err := client.KillByResource(t.Context(), copilot.KillRequest{Resources: test.wanted})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.wantKilled, names(killed)); diff != "" {
				t.Errorf("killed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWrongRequestsAreRefused(t *testing.T) {
	r := newRig(t, cgroup.V2)
	client := r.serve()
	for name, test := range map[string]struct {
		err     func() error
		wantErr string
	}{
		"an ID that is a path":         {err: func() error { return client.Kill(t.Context(), "../../system.slice") }, wantErr: "400"},
		"an ID with a path behind it":  {err: func() error { return client.Kill(t.Context(), first+"/../x") }, wantErr: "400"},
		"an ID of no container":        {err: func() error { return client.Kill(t.Context(), first) }, wantErr: "not found"},
		"no resources":                 {err: func() error { _, err := client.KillByResource(t.Context(), copilot.KillRequest{}); return err }, wantErr: "400"},
		"resources less than nothing":  {err: func() error { return r.killBy(client, "-5") }, wantErr: "400"},
		"more resources than there is": {err: func() error { return r.killBy(client, "5") }},
	} {
		t.Run(name, func(t *testing.T) {
			err := test.err()
			if test.wantErr == "" && err != nil || test.wantErr != "" && (err == nil || !strings.Contains(err.Error(), test.wantErr)) {
				t.Errorf("error = %v, want %q", err, test.wantErr)
			}
		})
	}
}

func (r *rig) killBy(client *copilot.Client, cpus string) error {
	_, err := client.KillByResource(r.Context(), copilot.KillRequest{Resources: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpus)}})
	return err
}

// TestContainersOutliveTheNodeManager: those that were listed are served while they have processes.
func TestContainersOutliveTheNodeManager(t *testing.T) {
	for name, answer := range map[string]func(http.ResponseWriter){
		"it fails":          func(w http.ResponseWriter) { w.WriteHeader(http.StatusInternalServerError) },
		"it answers a page": func(w http.ResponseWriter) { _, _ = io.WriteString(w, "<html>") },
		"it answers half":   func(w http.ResponseWriter) { _, _ = io.WriteString(w, `{"containers":{"container":[{"id":`) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, cgroup.V2)
			r.manager.set(func(m *manager) { m.answer = answer })
			client := r.serve()
			if _, err := client.Containers(t.Context()); err == nil || !strings.Contains(err.Error(), "503") {
				t.Errorf("before the first list: %v, want 503", err)
			}
			if err := r.healthy(); err == nil {
				t.Error("the agent is healthy without a NodeManager")
			}
			r.manager.set(func(m *manager) { m.answer = nil })
			r.again()
			r.manager.has(first, 1, 512)
			task := r.start(first, "sleep", "300")
			if got, err := client.Containers(t.Context()); err != nil || len(got) != 1 || r.healthy() != nil {
				t.Fatalf("containers = %v, %v; health %v", names(got), err, r.healthy())
			}
			r.manager.set(func(m *manager) { m.answer = answer })
			r.again()
			if got, err := client.Containers(t.Context()); err != nil || len(got) != 1 {
				t.Errorf("containers = %v, %v; want the one that runs on", names(got), err)
			}
			if err := client.Kill(t.Context(), first); err != nil || runs(task.Process.Pid) {
				t.Errorf("Kill() = %v", err)
			}
			if got, err := client.Containers(t.Context()); err != nil || len(got) != 0 {
				t.Errorf("containers = %v, %v; want none that has ended", names(got), err)
			}
		})
	}
}

// TestASlowNodeManagerKeepsNobodyWaiting: koordlet gets the containers that were known, and ends them, before it gives up.
func TestASlowNodeManagerKeepsNobodyWaiting(t *testing.T) {
	for name, synchronizes := range map[string]bool{"nobody else asks it": false, "the agent waits for it itself": true} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, cgroup.V2)
			r.manager.has(first, 1, 512)
			r.start(first, "sleep", "300")
			r.synchronize(t.Context())
			r.hang(synchronizes)
			began := time.Now()
			got, err := r.containers(t.Context())
			if took := time.Since(began); err != nil || len(got) != 1 || took > nodeManagerTimeout-time.Second {
				t.Errorf("after %s, containers = %v, %v; want the one that was known", took, names(got), err)
			}
			began = time.Now()
			if _, err := r.kill(t.Context(), first); err != nil || time.Since(began) > nodeManagerTimeout-time.Second {
				t.Errorf("kill = %v after %s", err, time.Since(began))
			}
		})
	}
}

// TestANodeManagerThatNeverAnsweredIsSaid: koordlet hears so at once, and asks again soon.
func TestANodeManagerThatNeverAnsweredIsSaid(t *testing.T) {
	r := newRig(t, cgroup.V2)
	r.hang(true)
	began := time.Now()
	_, err := r.containers(t.Context())
	if took := time.Since(began); !errors.Is(err, errNotListed) || took > nodeManagerTimeout-time.Second {
		t.Errorf("after %s, containers = %v; want that the NodeManager was not listed", took, err)
	}
}

// TestWhatTheNodeManagerMadeStays: a cgroup of LinuxContainerExecutor is adopted, and completed by the hierarchies that it left out.
func TestWhatTheNodeManagerMadeStays(t *testing.T) {
	for name, test := range map[string]struct {
		complete   bool
		wantMemory int
	}{
		"with the memory cgroup": {complete: true, wantMemory: 1},
		"left as it is":          {},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, cgroup.V1)
			r.groups.complete = test.complete
			r.manager.has(first, 1, 512)
			task := r.start("another variable", "sleep", "300")
			r.kernel.Make(above + "/" + first)
			if err := r.kernel.Write("cpu/"+above+"/"+first+"/cgroup.procs", strconv.Itoa(task.Process.Pid)); err != nil {
				t.Fatal(err)
			}
			r.synchronize(t.Context())
			if got, err := r.containers(t.Context()); err != nil || len(got) != 1 {
				t.Errorf("containers = %v, %v", names(got), err)
			}
			if pids := r.kernel.processes("memory/" + above + "/" + first); len(pids) != test.wantMemory {
				t.Errorf("processes in the memory cgroup: %v, want %d", pids, test.wantMemory)
			}
		})
	}
}

func TestCgroupsOfContainersThatEndedAreRemoved(t *testing.T) {
	onBoth(t, func(r *rig) {
		r.manager.has(first, 1, 512)
		r.start(first, "sleep", "300")
		r.synchronize(r.Context())
		r.kernel.Make(above + "/not-a-container")
		r.manager.set(func(m *manager) { m.tasks = nil })
		r.synchronize(r.Context())
		directory := r.groups.layout.Directory(cgroup.Processes, above)
		if !r.kernel.Exists(directory + "/" + first) {
			r.Error("a cgroup with a process was removed")
		}
		r.manager.has(first, 1, 512)
		r.again()
		if _, err := r.kill(r.Context(), first); err != nil {
			r.Fatal(err)
		}
		r.manager.set(func(m *manager) { m.tasks = nil })
		r.synchronize(r.Context())
		if r.kernel.Exists(directory+"/"+first) || !r.kernel.Exists(directory+"/not-a-container") {
			r.Error("the cgroup of a container that ended is there, or another one is not")
		}
	})
}

// TestProcessesOfServicesStay: anyone may set the variable, which must not take a process out of the cgroup of its pod.
func TestProcessesOfServicesStay(t *testing.T) {
	for name, test := range map[string]struct {
		cgroup string
		want   bool
	}{
		"of the system":          {cgroup: "system.slice/yarn.service", want: true},
		"of a best-effort pod":   {cgroup: "kubepods/besteffort/pod1/c", want: true},
		"of a guaranteed pod":    {cgroup: "kubepods/pod1/c"},
		"of a burstable pod":     {cgroup: "kubepods/burstable/pod1/c"},
		"of a name that is near": {cgroup: "kubepods/besteffort-x/c"},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(r *rig) {
				r.kernel.Make(test.cgroup)
				r.manager.has(first, 1, 512)
				pid := strconv.Itoa(r.start(first, "sleep", "300").Process.Pid)
				for _, directory := range r.groups.hierarchies(test.cgroup) {
					if err := r.kernel.Write(directory+"/cgroup.procs", pid); err != nil {
						r.Fatal(err)
					}
				}
				r.synchronize(r.Context())
				for _, directory := range r.groups.hierarchies(above + "/" + first) {
					if got := slices.Contains(r.kernel.processes(directory), pid); got != test.want {
						r.Errorf("the process is moved into %s: %t, want %t", directory, got, test.want)
					}
				}
			})
		})
	}
}

func TestProcessesThatCannotBeMovedAreTriedAgain(t *testing.T) {
	r := newRig(t, cgroup.V2)
	r.manager.has(first, 1, 512)
	r.start(first, "sleep", "300")
	r.kernel.refuse = syscall.EACCES
	if got, err := r.containers(t.Context()); err != nil || len(got) != 0 {
		t.Errorf("containers = %v, %v; want none in a cgroup", names(got), err)
	}
	r.kernel.refuse = nil
	r.again()
	if got, err := r.containers(t.Context()); err != nil || len(got) != 1 {
		t.Errorf("containers = %v, %v", names(got), err)
	}
}
