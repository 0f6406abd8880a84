package qos

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

const mebi = 1 << 20

// reclaimNode has a service with a limit of 1000 MiB, which is to stay below 95 percent of it.
func reclaimNode(t *testing.T, version cgroup.Version) (*node, *Reclaimer) {
	reclaimer := NewReclaimer()
	n := newNode(t, version, []Feature{MemoryQoS{Reclaim: reclaimer}}, servicePod)
	n.in.SLO.ResourceQOSStrategy = &slov1alpha1.ResourceQOSStrategy{LSClass: &slov1alpha1.ResourceQOS{MemoryQOS: &slov1alpha1.MemoryQOSCfg{
		Enable: new(true), MemoryQOS: slov1alpha1.MemoryQOS{WmarkRatio: new(int64(95)), WmarkScalePermill: new(int64(20))},
	}}}
	n.use(n.service(), 500, 0)
	return n, reclaimer
}

func (n *node) service() string { return n.in.Layout.Pod(corev1.PodQOSBurstable, "service") + "/" + id }

// use has a cgroup use some memory, of which some is page cache; in MiB.
func (n *node) use(at string, used, cache int64) {
	n.kernel.Show(at, "memory.max", fmt.Sprint(1000*mebi))
	n.kernel.Show(at, "memory.current", fmt.Sprint(used*mebi))
	n.kernel.Show(at, "memory.stat", fmt.Sprintf("anon 5\ninactive_file %d\nactive_file 0", cache*mebi))
}

// reclaimed is one round, and returns what the cgroup uses after it in MiB.
func (n *node) reclaimed(r *Reclaimer, clock clock.PassiveClock) int64 {
	n.Helper()
	n.round()
	select {
	case round := <-r.rounds:
		r.work(n.Context(), clock, round)
	default:
		n.Fatal("nothing is to be done")
	}
	content, err := n.kernel.Read(n.service()+"/memory.current", nil)
	if err != nil {
		n.Fatal(err)
	}
	var used int64
	if _, err := fmt.Sscan(string(content), &used); err != nil {
		n.Fatal(err)
	}
	return used / mebi
}

func TestMemoryIsReclaimedBeforeTheLimitIsReached(t *testing.T) {
	n, r := reclaimNode(t, cgroup.V2)
	clock := clocktesting.NewFakePassiveClock(start)
	for _, step := range []struct {
		name              string
		used, cache, want int64
	}{
		{"below the watermark nothing is done", 940, 500, 940},
		{"above it 64 MiB are taken at most", 1000, 500, 936},
		{"and it goes on until the low watermark", 0, 0, 930},
		{"where it ends", 0, 0, 930},
		{"nor does it begin again below the high one", 945, 500, 945},
		{"memory that cannot be reclaimed is not asked for", 1000, 0, 1000},
		{"page cache that is there is", 1000, 10, 990},
	} {
		if step.used > 0 {
			n.use(n.service(), step.used, step.cache)
		}
		if got := n.reclaimed(r, clock); got != step.want {
			t.Errorf("%s: %d MiB are used, want %d", step.name, got, step.want)
		}
	}
	clock.SetTime(start.Add(reclaimTold)) // each group is logged once a minute
	n.use(n.service(), 500, 0)
	n.reclaimed(r, clock)
	var objects []string
	for _, entry := range n.log.After(0, 10) {
		asked, _, _ := strings.Cut(entry.Why, ":")
		objects = append(objects, fmt.Sprintf("%s %s %s %s %s", entry.Owner, strings.TrimPrefix(entry.Object, n.service()+"/"), entry.Old, entry.New, asked))
	}
	want := []string{
		"CgroupReconcile memory.reclaim 1048576000 981467136 asked for 67108864 bytes",
		"CgroupReconcile memory.reclaim 981467136 1038090240 asked for 16777216 bytes in 2 rounds",
	}
	if got, want := strings.Join(objects, "\n"), strings.Join(want, "\n"); got != want {
		t.Errorf("audited:\n%s\nwant:\n%s", got, want)
	}
}

func TestAGroupOfWhichNothingCameIsLeftAloneForAWhile(t *testing.T) {
	n, r := reclaimNode(t, cgroup.V2)
	clock := clocktesting.NewFakePassiveClock(start)
	n.use(n.service(), 1000, 500)
	var asked int
	n.kernel.Fail(func(operation, path string) error {
		if operation == "write" && strings.HasSuffix(path, "memory.reclaim") {
			asked++
			return syscall.EAGAIN
		}
		return nil
	})
	n.reclaimed(r, clock)
	n.reclaimed(r, clock)
	if asked != 1 {
		t.Errorf("the kernel was asked %d times, want once", asked)
	}
	clock.SetTime(start.Add(reclaimRest))
	n.reclaimed(r, clock)
	if asked != 2 {
		t.Errorf("the kernel was asked %d times, want once more", asked)
	}
	if entry := n.log.After(0, 1)[0]; entry.Error != "" || entry.Old != entry.New {
		t.Errorf("audited %+v, want that nothing came of it", entry)
	}
}

// TestWhatWasReclaimedOfAGroupThatWentIsTold, and the group forgotten.
func TestWhatWasReclaimedOfAGroupThatWentIsTold(t *testing.T) {
	n, r := reclaimNode(t, cgroup.V2)
	clock := clocktesting.NewFakePassiveClock(start)
	n.use(n.service(), 1000, 500)
	n.reclaimed(r, clock)
	n.use(n.service(), 1000, 500)
	n.reclaimed(r, clock)
	if got := len(n.log.After(0, 10)); got != 1 {
		t.Fatalf("%d entries within a minute, want 1", got)
	}
	n.in.Pods = nil
	n.reclaimed(r, clock)
	if got := len(n.log.After(0, 10)); got != 2 || len(r.tallies) > 0 {
		t.Errorf("%d entries, want 2; remembered is %v", got, r.tallies)
	}
}

// steps makes each write of memory.reclaim last.
type steps struct {
	*clocktesting.FakePassiveClock
	each time.Duration
}

func TestReclaimEndsAtItsDeadline(t *testing.T) {
	n, r := reclaimNode(t, cgroup.V2)
	slow := steps{clocktesting.NewFakePassiveClock(start), 200 * time.Millisecond}
	n.use(n.service(), 1000, 500)
	n.kernel.Fail(func(operation, path string) error {
		if operation == "write" && strings.HasSuffix(path, "memory.reclaim") {
			slow.SetTime(slow.Now().Add(slow.each))
		}
		return nil
	})
	if got := n.reclaimed(r, slow); got != 1000-3*4 {
		t.Errorf("%d MiB are used, want three steps of 4 MiB less", got)
	}
}

func TestPressureEndsReclaim(t *testing.T) {
	n, r := reclaimNode(t, cgroup.V2)
	n.use(n.service(), 1000, 500)
	n.kernel.Show(n.service(), "memory.pressure", "some avg10=50.00 avg60=0.00 avg300=0.00 total=0\nfull avg10=7.50 avg60=0.00 avg300=0.00 total=0")
	if got := n.reclaimed(r, clocktesting.NewFakePassiveClock(start)); got != 1000 {
		t.Errorf("%d MiB are used, want all that were", got)
	}
}

func TestKernelsWithWatermarksReclaimThemselves(t *testing.T) {
	n, r := reclaimNode(t, cgroup.V2)
	n.kernel.Anolis()
	n.begin()
	n.round()
	if len(r.rounds) > 0 {
		t.Error("the agent reclaims beside the kernel")
	}
	n.wantRestored(nil)
	n, r = reclaimNode(t, cgroup.V1)
	n.round()
	if len(r.rounds) > 0 {
		t.Error("the agent reclaims with version 1, which cannot")
	}
}

// The features are asked again and again while the kernel is at work, and must never wait for it.
func TestReadingsDoNotWaitForReclaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, r := reclaimNode(t, cgroup.V2)
		n.use(n.service(), 1000, 500)
		block, blocked := make(chan struct{}), make(chan struct{}, 1)
		n.in.Tree = blockingTree{n.kernel, block, blocked}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { r.Run(ctx, clock.RealClock{}); close(done) }()
		n.features[0].DesiredValues(n.in)
		<-blocked
		for range 10 {
			n.features[0].DesiredValues(n.in)
		}
		cancel()
		close(block)
		<-done
	})
}

// blockingTree keeps who reclaims waiting.
type blockingTree struct {
	files.FS
	block   chan struct{}
	blocked chan struct{}
}

func (b blockingTree) Write(path, value string) error {
	select {
	case b.blocked <- struct{}{}:
	default:
	}
	<-b.block
	return b.FS.Write(path, value)
}
