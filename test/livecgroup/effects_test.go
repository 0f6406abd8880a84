package livecgroup

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/machine"
	"koordinator.sh/koord/agent/qos"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/test/eventually"
	"koordinator.sh/koord/test/livecgroup/work"
)

func disk(t *testing.T) string {
	path := os.Getenv(DiskVariable)
	if path == "" {
		t.Skip("no disk to test with: " + DiskVariable + " is not set")
	}
	return path
}

// counter reads a statistic of a cgroup, by the name at the beginning of a line.
func (r *rig) counter(statistic cgroup.Statistic, at, name string) int64 {
	r.t.Helper()
	content, err := r.Read(r.Layout().Statistic(statistic, at), nil)
	if err != nil {
		r.t.Fatal(err)
	}
	for line := range strings.Lines(string(content)) {
		rest, found := strings.CutPrefix(strings.TrimSpace(line), name)
		if !found || name != "" && rest[0] != ' ' {
			continue
		}
		value, err := strconv.ParseInt(strings.TrimSpace(rest), 10, 64)
		if err != nil {
			r.t.Fatal(err)
		}
		return value
	}
	r.t.Fatalf("%s does not show %q:\n%s", r.Layout().Statistic(statistic, at), name, content)
	return 0
}

func (r *rig) cpuTime(at string) time.Duration {
	r.t.Helper()
	content, err := r.Read(r.Layout().Statistic(cgroup.CPUUsage, at), nil)
	if err != nil {
		r.t.Fatal(err)
	}
	used, err := machine.CPUTime(r.Version, content)
	if err != nil {
		r.t.Fatal(err)
	}
	return used
}

func TestAQuotaThrottles(t *testing.T) {
	r := newRig(t, &qos.Suppression{})
	r.slo = suppressing(slov1alpha1.CPUCfsQuotaPolicy)
	r.used[service], r.usedNode = int64(r.CPUs.Len())*640, int64(r.CPUs.Len())*640
	r.Start(r.path("batch/main"), work.Burn(2)).AwaitDone()
	r.round()
	eventually.True(t, "best-effort pods are throttled", func() bool {
		return r.counter(cgroup.CPUStat, r.path("besteffort"), "nr_throttled") > 3
	})
}

// TestIdlePodsYield lets two pods want the same CPU.
func TestIdlePodsYield(t *testing.T) {
	r := newRig(t, qos.GroupIdentity{})
	r.slo.ResourceQOSStrategy = identities()
	r.round()
	busy, idle := r.path("bound"), r.path("batch")
	for _, at := range []string{r.path("bound/main"), r.path("batch/main")} {
		r.write(cgroup.CPUSet, at, "1")
	}
	r.write(cgroup.CPUQuota, busy, "-1")
	r.Start(r.path("batch/main"), work.Burn(1)).AwaitDone() // it would hardly come to begin after the other
	r.Start(r.path("bound/main"), work.Burn(1)).AwaitDone()
	busyBefore, idleBefore := r.cpuTime(busy), r.cpuTime(idle)
	const enough = 500 * time.Millisecond
	eventually.True(t, "the pod that does not yield runs", func() bool { return r.cpuTime(busy)-busyBefore >= enough })
	if ran, yielded := r.cpuTime(busy)-busyBefore, r.cpuTime(idle)-idleBefore; yielded > ran/5 {
		t.Errorf("the idle pod ran for %v while the other one ran for %v", yielded, ran)
	}
}

// TestPageCacheIsReclaimed asks for what a pod has read, and then for more than there is.
func TestPageCacheIsReclaimed(t *testing.T) {
	r := newRig(t)
	path, has := r.Layout().Path(cgroup.MemoryReclaim, r.path("batch"))
	if !has {
		t.Skipf("version %d of cgroups has no such thing", r.Version)
	}
	const size = 16 << 20
	r.Start(r.path("batch/main"), work.ReadFile(disk(t), size)).AwaitDone()
	before := r.counter(cgroup.MemoryUsage, r.path("batch"), "")
	if before < size {
		t.Fatalf("the pod has %d bytes after it has read %d", before, size)
	}
	answers := make(chan error, 2)
	go func() {
		answers <- r.Write(path, strconv.Itoa(size/2))
		answers <- r.Write(path, "1g")
	}()
	for _, want := range []error{nil, syscall.EAGAIN} {
		select {
		case err := <-answers:
			if !errors.Is(err, want) {
				t.Errorf("the kernel answers %v, want %v", err, want)
			}
		case <-time.After(patience):
			t.Fatal("the kernel does not answer") // files.Real says why that could be
		}
	}
	if after := r.counter(cgroup.MemoryUsage, r.path("batch"), ""); after > before-size/2 {
		t.Errorf("the pod has %d bytes, and had %d before", after, before)
	}
}

// TestReadsAreBounded has a best-effort pod read as fast as it may, and a service.
func TestReadsAreBounded(t *testing.T) {
	path := disk(t)
	r := newRig(t, &qos.BlkIOReconcile{})
	before := r.dump()
	const rate, seconds = 2 << 20, 2
	r.slo.ResourceQOSStrategy = &slov1alpha1.ResourceQOSStrategy{BEClass: &slov1alpha1.ResourceQOS{BlkIOQOS: &slov1alpha1.BlkIOQOSCfg{
		Enable: new(true), BlkIOQOS: slov1alpha1.BlkIOQOS{Blocks: []*slov1alpha1.BlockCfg{{
			Name: path, BlockType: slov1alpha1.BlockTypeDevice, IOCfg: slov1alpha1.IOCfg{ReadBPS: new(int64(rate))},
		}}},
	}}}
	r.round()
	limits, err := os.ReadFile(filepath.Join(mount, r.path("besteffort"), "io.max"))
	if r.Version == cgroup.V2 && (err != nil || !strings.Contains(string(limits), "rbps="+strconv.Itoa(rate)+" ")) {
		t.Fatalf("the limits of best-effort pods are %q, %v", limits, err)
	}
	elapsed := r.Start(r.path("batch/main"), work.ReadFile(path, rate*(seconds+1))).AwaitDone()
	if elapsed < seconds*time.Second {
		t.Errorf("the best-effort pod read %d bytes in %v", rate*(seconds+1), elapsed)
	}
	r.restore(before)
	if again := r.Start(r.path("batch/main"), work.ReadFile(path, rate*(seconds+1))).AwaitDone(); again > elapsed {
		t.Errorf("with no limit the pod read as much in %v, after %v", again, elapsed)
	}
}
