package alarm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/agent/host/kernelfs"
	"koordinator.sh/koord/decision/core/cpuset"
)

// pods are those of a machine of ten CPUs, which use some of them.
type pods struct {
	mu                  sync.Mutex
	kernel              *kernelfs.Tree
	layout              cgroup.Layout
	service, bestEffort float64
	all, batch          time.Duration
	at                  time.Time
}

// run shows what was used, each ten milliseconds and never while the alarm looks: between two counters that are read one after the
// other, no kernel counts ten milliseconds.
func (p *pods) run(ctx context.Context) {
	time.Sleep(5 * time.Millisecond)
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		p.mu.Lock()
		elapsed := time.Since(p.at)
		p.at = time.Now()
		p.batch += time.Duration(float64(elapsed) * p.bestEffort)
		p.all += time.Duration(float64(elapsed) * (p.bestEffort + p.service))
		p.mu.Unlock()
		for at, used := range map[string]time.Duration{p.layout.Kubepods(): p.all, p.layout.QoS("BestEffort"): p.batch} {
			p.kernel.Show(at, "cpuacct.usage", strconv.FormatInt(int64(used), 10))
			p.kernel.Show(at, "cpu.stat", fmt.Sprintf("usage_usec %d", used.Microseconds()))
		}
	}
}

func (p *pods) use(service, bestEffort float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.service, p.bestEffort = service, bestEffort
}

func TestAStepOfServicesAlarms(t *testing.T) {
	for _, layout := range []cgroup.Layout{{Version: cgroup.V1, Driver: cgroup.Cgroupfs}, {Version: cgroup.V2, Driver: cgroup.Systemd}} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			p := &pods{kernel: kernelfs.New(layout.Version, cpuset.Of(0, 1, 2, 3, 4, 5, 6, 7, 8, 9)), layout: layout, at: time.Now()}
			a := New(Options{Tree: p.kernel, Layout: layout, CPUs: 10, Clock: clock.RealClock{}})
			var group sync.WaitGroup
			defer group.Wait()
			defer cancel()
			group.Go(func() { a.Run(ctx) })
			expect := func(what string, within time.Duration, want bool) {
				t.Helper()
				select {
				case <-a.C():
					if !want {
						t.Errorf("%s: an alarm", what)
					}
				case <-time.After(within):
					if want {
						t.Errorf("%s: no alarm within %s", what, within)
					}
				}
			}
			expect("there are no pods", 3*time.Second, false)
			p.kernel.Make(layout.QoS("BestEffort"))
			group.Go(func() { p.run(ctx) })
			p.use(1, 0)
			time.Sleep(5 * time.Second)
			select {
			case <-a.C(): // pods that come may be a step
			default:
			}
			p.use(1, 8)
			expect("best-effort pods use more", 3*time.Second, false)
			p.use(1.3, 8)
			expect("services use a little more", 3*time.Second, false)
			p.use(4, 8)
			expect("services use more", 150*time.Millisecond, true)
			time.Sleep(time.Second)
			select {
			case <-a.C(): // the look that fell into the step saw a part of it, and the next one the rest
			default:
			}
			expect("and no more than that", 3*time.Second, false)
			p.use(1, 8)
			expect("services use less", 500*time.Millisecond, false)
			p.use(4, 8)
			expect("what was so a moment before", 700*time.Millisecond, false)
			p.use(1, 8)
			time.Sleep(2 * time.Second)
			p.use(4, 8)
			expect("after a while it is a step again", 150*time.Millisecond, true)
			p.use(1, 0.4)
			time.Sleep(2 * time.Second)
			select {
			case <-a.C(): // the rest of the step
			default:
			}
			p.use(4, 0.4)
			expect("there is next to nothing to hold back", time.Second, false)
		})
	}
}

func TestAlarmsKeepADistance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := New(Options{Clock: clock.RealClock{}})
		var given []time.Duration
		begun := time.Now()
		for range 30 { // 300 milliseconds of reasons each ten
			a.raise(func(c *Counts) { c.Pressure++ })
			select {
			case <-a.C():
				given = append(given, time.Since(begun))
			default:
			}
			time.Sleep(10 * time.Millisecond)
		}
		if len(given) != 3 || given[1] != MinDistance || a.Counts().Pressure != 30 {
			t.Errorf("alarms at %v, of %+v", given, a.Counts())
		}
	})
}

// TestTheKernelAlarms needs root, pressure of cgroups and the right to set triggers of half a second.
func TestTheKernelAlarms(t *testing.T) {
	tree, err := files.NewReal("/sys/fs/cgroup")
	if err != nil {
		t.Skip(err)
	}
	defer tree.Close()
	layout := cgroup.Layout{Version: cgroup.V2, Driver: cgroup.Cgroupfs, Parent: "koord-test-alarm"}
	root := "/sys/fs/cgroup/"
	if !tree.Exists("cgroup.controllers") {
		layout.Version, root = cgroup.V1, "/sys/fs/cgroup/unified/"
	}
	at := root + layout.QoS("Burstable")
	if err := os.MkdirAll(at, 0o755); err != nil {
		t.Skip(err)
	}
	defer func() {
		for _, group := range []string{at, root + layout.Kubepods(), root + layout.Parent} {
			if err := os.Remove(group); err != nil {
				t.Error(err)
			}
		}
	}()
	l := &listener{options: Options{Tree: tree, Layout: layout}, tree: tree, set: map[string]int{}}
	defer l.close()
	l.match()
	if l.refused {
		t.Skip("the kernel lets this process set no triggers that are quick enough")
	}
	if len(l.set) != 1 {
		t.Fatalf("%d triggers are set, want that of the class", len(l.set))
	}
}

func TestATreeWithoutTriggersIsSilent(t *testing.T) {
	a := New(Options{Tree: kernelfs.New(cgroup.V2, cpuset.Of(0)), Layout: cgroup.Layout{Version: cgroup.V2}, CPUs: 1, Clock: clock.RealClock{}})
	done := make(chan struct{})
	go func() { a.listen(t.Context()); close(done) }()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Error(errors.New("it listens to nothing"))
	}
}
