package livecgroup

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"

	"koordinator.sh/koord/agent/host/oomkill"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/test/eventually"
)

// TestWhatTheKernelKillsIsReported by its notifications: without them the counters would be read in an hour.
func TestWhatTheKernelKillsIsReported(t *testing.T) {
	r := newRig(t)
	if err := oomkill.Supported(r.Tree, r.Layout()); err != nil {
		t.Fatal(err)
	}
	early := r.path("batch/main")
	r.limit(early)
	r.overrun(early).AwaitEnd()
	if r.killed(early) == 0 {
		t.Fatal("the kernel killed nothing before the watcher listens")
	}

	var mu sync.Mutex
	reported := map[string]int64{}
	ctx, cancel := context.WithCancel(t.Context())
	looked := &firstTimer{started: make(chan struct{})}
	watcher := oomkill.New(oomkill.Options{Tree: r.Tree, Layout: r.Layout(), Clock: looked, Interval: time.Hour})
	open := descriptors(t)
	var group sync.WaitGroup
	group.Go(func() {
		watcher.Run(ctx, func(kill oomkill.Kill) {
			mu.Lock()
			defer mu.Unlock()
			reported[string(kill.Pod)+" "+kill.Container] += kill.Processes
		})
	})
	defer group.Wait()
	defer cancel()
	// The kernel may count a process more than once, when its end does not release memory soon enough.
	expect := func(what, key, killedAt string) {
		t.Helper()
		want := map[string]int64{key: int64(r.killed(killedAt))}
		var diff string
		eventually.True(t, what+" is reported", func() bool {
			mu.Lock()
			defer mu.Unlock()
			diff = cmp.Diff(want, reported)
			return diff == "" || len(reported) > 1
		})
		if diff != "" {
			t.Fatalf("%s (-want +got):\n%s", what, diff)
		}
		mu.Lock()
		defer mu.Unlock()
		clear(reported)
	}
	<-looked.started // what is killed before the watcher has read the counters once is not reported

	r.limit(r.path("service/main"))
	r.overrun(r.path("service/main")).AwaitEnd()
	expect("what exceeds the limit of its container", "service "+id, r.path("service/main"))

	r.add("late", extension.QoSLS, corev1.PodQOSBurstable, "700", nil, list("memory", "128Mi"), nil)
	r.limit(r.path("late/main"))
	r.overrun(r.path("late/main")).AwaitEnd()
	expect("what exceeds the limit of a container that is new", "late "+id, r.path("late/main"))

	r.limit(r.path("bound"))
	r.overrun(r.path("bound/main")).AwaitEnd()
	expect("what exceeds the limit of its pod", "bound "+id, r.path("bound/main"))

	cancel()
	group.Wait()
	if left := descriptors(t); left != open {
		t.Errorf("%d descriptors are left after the watcher ended, %d were there before", left, open)
	}
}

// firstTimer is a clock that says when its first timer is started.
type firstTimer struct {
	clock.RealClock
	once    sync.Once
	started chan struct{}
}

// NewTimer starts a timer.
func (f *firstTimer) NewTimer(duration time.Duration) clock.Timer {
	f.once.Do(func() { close(f.started) })
	return f.RealClock.NewTimer(duration)
}

// killed is how many processes of a cgroup the kernel says that it killed.
func (r *rig) killed(at string) uint64 {
	r.t.Helper()
	return r.statistics(at).oomKills
}

// descriptors counts those by which the kernel notifies this process.
func descriptors(t *testing.T) (found int) {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		target, err := os.Readlink("/proc/self/fd/" + entry.Name())
		if err == nil && (strings.Contains(target, "inotify") || strings.Contains(target, "eventfd")) {
			found++
		}
	}
	return found
}
