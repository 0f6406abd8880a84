package realnode

import (
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"testing"

	"koordinator.sh/koord/agent/host/cgroup"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/test/sandboxtest"
)

// wantBatch waits until the batch pod has the values of what it asks for, and yields to all others where the kernel can have it so.
func (r *rig) wantBatch(t *testing.T, k *kernel) {
	t.Helper()
	want := map[string]string{
		byBatch + " cpu.cfs_quota_us of the pod": "50000", byBatch + " memory.limit_in_bytes of the pod": "67108864",
		byBatch + " cpu.cfs_quota_us of main": "50000", byBatch + " memory.limit_in_bytes of main": "67108864", byBatch + " cpu.shares of main": k.shares(2),
	}
	if r.yields(k) {
		want["GroupIdentity cpu.idle of the pod"] = "1"
	}
	r.wantSettings(t, k, want)
}

func (r *rig) yields(k *kernel) bool {
	return k.layout.Supports(k.tree, cgroup.CPUIdle, k.layout.Kubepods())
}

// testRestarted kills the batch pod's process: the container that kubelet makes instead has its own cgroup, and all that the
// first one had.
func (r *rig) testRestarted(t *testing.T) {
	k := r.kernel(t)
	r.configure(t, "resource-qos-config", map[string]any{"beClass": map[string]any{"cpuQOS": map[string]any{"enable": true, "groupIdentity": -1}}})
	r.wantBatch(t, k)
	status, at := r.awaitReady(t, "batch")["batch"], r.containerOf(t)
	pid, score, err := k.process(at)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	sandboxtest.Eventually(t, patience, func() error {
		if after := r.awaitReady(t, "batch")["batch"]; after.ContainerID == status.ContainerID || after.RestartCount != status.RestartCount+1 {
			return fmt.Errorf("container of batch is %q after %d restarts; want another", after.ContainerID, after.RestartCount)
		}
		return nil
	})
	r.wantBatch(t, k)
	again := r.containerOf(t)
	if again == at {
		t.Errorf("main is in %s as before; want a cgroup of its own", again)
	}
	if other, scored, err := k.process(again); err != nil || other == pid || scored != score {
		t.Errorf("process %d scores %q, %v; want another than %d with %q", other, scored, err, pid, score)
	}
}

// containerOf is the cgroup of the batch pod's container, as the agent has it.
func (r *rig) containerOf(t *testing.T) string {
	t.Helper()
	settings, err := r.settings(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(settings, func(s diagnosticsv1alpha1.CgroupSetting) bool { return s.Container == "main" })
	if i < 0 {
		t.Fatalf("the agent sets nothing of main: %+v", settings)
	}
	return settings[i].Cgroup
}

// process is the only one of a container, and how likely the kernel kills it when memory runs out.
func (k *kernel) process(at string) (pid int, score string, err error) {
	pids, err := k.processes(path.Join(k.layout.Parent, at))
	if err != nil {
		return 0, "", err
	}
	if len(pids) != 1 {
		return 0, "", errors.New("want one process in " + at)
	}
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/oom_score_adj", pids[0]))
	return pids[0], strings.TrimSpace(string(content)), err
}
