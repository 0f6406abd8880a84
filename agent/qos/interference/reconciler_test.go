package interference

import (
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/perf"
	"koordinator.sh/koord/agent/metrics"
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/agent/state"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/cpuset"
	decision "koordinator.sh/koord/decision/nodeqos/interference"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// counters imitate a processor: each cgroup has a rate of cycles per instruction.
type counters struct {
	missing error
	cpi     map[string]float64
	open    int
	// opened counts how often counting began.
	opened int
}

func (c *counters) Supported() error { return c.missing }

func (c *counters) Count(cgroup string, cpus []int) (perf.Counter, error) {
	if _, known := c.cpi[cgroup]; !known {
		return nil, errors.New("no such cgroup")
	}
	c.open, c.opened = c.open+1, c.opened+1
	return &counter{of: c, cgroup: cgroup}, nil
}

type counter struct {
	of     *counters
	cgroup string
}

func (c *counter) Read() (perf.Sample, error) {
	return perf.Sample{Cycles: 1e9 * c.of.cpi[c.cgroup], Instructions: 1e9}, nil
}
func (c *counter) Close() { c.of.open-- }

func pod(name, class string) *state.Pod {
	return state.PodOf(&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns", UID: types.UID(name), Labels: map[string]string{extension.LabelPodQoS: class}},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning, QOSClass: corev1.PodQOSBurstable},
	})
}

func snapshot(t *testing.T) qos.NodeSnapshot {
	t.Helper()
	topology, err := cpuset.NewTopology(&extension.CPUTopology{Detail: []extension.CPUInfo{{ID: 0}, {ID: 1, Core: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	return qos.NodeSnapshot{
		Now: noon, Topology: topology, Layout: cgroup.Layout{Version: cgroup.V2, Driver: cgroup.Cgroupfs},
		Pods: []*state.Pod{pod("web", "LS"), pod("batch", "BE"), pod("agent", "SYSTEM")},
	}
}

func reconcilerOf(t *testing.T, options Options) *Reconciler {
	t.Helper()
	options.Limits = decision.DefaultLimits()
	reconciler, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	return reconciler
}

func TestPressureMakesBestEffortGiveWay(t *testing.T) {
	reconciler, in := reconcilerOf(t, Options{Pressure: true}), snapshot(t)
	pressure := metrics.Pressure{CPU: metrics.Stall{Some: 0.3}}
	in.PodPressure = func(types.UID) (metrics.Pressure, bool) { return pressure, true }
	look := func(some float64, seconds int) int64 {
		for range seconds {
			in.Now = in.Now.Add(time.Second)
			if in.Now.Second()%10 == 0 {
				pressure.To, pressure.CPU.Some = in.Now, some
			}
			if err := reconciler.Reconcile(t.Context(), in); err != nil {
				t.Fatal(err)
			}
		}
		return reconciler.Relief().Percent
	}
	if got := look(0.3, 20); got != 100 {
		t.Errorf("after two bad windows best effort keeps %d%%, want 100", got)
	}
	if got := look(0.3, 20); got >= 100 || len(reconciler.State().Services) != 1 || reconciler.State().Services[0].State.Verdict != decision.Noisy {
		t.Errorf("after four bad windows best effort keeps %d%%: %+v", got, reconciler.State())
	}
	if why := reconciler.Relief().Why; !strings.Contains(why, "ns/web") {
		t.Errorf("%q does not name the service", why)
	}
	if got := look(0.01, 600); got != 100 {
		t.Errorf("after ten good minutes best effort keeps %d%%, want 100", got)
	}
}

// TestAClockThatIsSetBackStopsNothing, neither that best effort gives way nor that it gets everything back.
func TestAClockThatIsSetBackStopsNothing(t *testing.T) {
	reconciler, in := reconcilerOf(t, Options{Pressure: true}), snapshot(t)
	pressure := metrics.Pressure{}
	in.PodPressure = func(types.UID) (metrics.Pressure, bool) { return pressure, true }
	look := func(some float64, windows int) int64 {
		for range windows {
			in.Now = in.Now.Add(10 * time.Second)
			pressure.To, pressure.CPU.Some = in.Now, some
			if err := reconciler.Reconcile(t.Context(), in); err != nil {
				t.Fatal(err)
			}
		}
		return reconciler.Relief().Percent
	}
	if got := look(0.3, 4); got >= 100 {
		t.Fatalf("after four bad windows best effort keeps %d%%", got)
	}
	in.Now = in.Now.Add(-time.Hour)
	if got := look(0.01, 60); got != 100 {
		t.Errorf("after ten good minutes best effort keeps %d%%, want 100", got)
	}
	in.Now = in.Now.Add(-time.Hour)
	if got := look(0.3, 4); got >= 100 {
		t.Errorf("after four bad windows best effort keeps %d%%", got)
	}
}

func TestInstructionsAreCountedInWindows(t *testing.T) {
	kernel := &counters{cpi: map[string]float64{"kubepods/burstable/podweb": 1}}
	reconciler, in := reconcilerOf(t, Options{CPI: true, Kernel: kernel}), snapshot(t)
	open := 0
	for range 60 * 40 {
		in.Now = in.Now.Add(time.Second)
		if err := reconciler.Reconcile(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		open += kernel.open
	}
	if kernel.opened != 40 || open != 40*10 {
		t.Errorf("counted %d times for %d seconds in all, want 40 times 10", kernel.opened, open)
	}
	service := reconciler.State().Services[0]
	if service.CPI != 1 || service.State.Baseline.Samples < 30 || service.State.Verdict != decision.Calm {
		t.Errorf("%+v", service)
	}
	kernel.cpi["kubepods/burstable/podweb"] = 2 // as when best effort takes the cache
	for range 60 * 4 {
		in.Now = in.Now.Add(time.Second)
		if err := reconciler.Reconcile(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	if reconciler.State().Services[0].State.Verdict != decision.Noisy || reconciler.Relief().Percent >= 100 {
		t.Errorf("%+v", reconciler.State())
	}
	if err := reconciler.Restore(t.Context()); err != nil || kernel.open != 0 || reconciler.Relief().Percent != 100 {
		t.Errorf("%d counters are open, best effort keeps %d%%: %v", kernel.open, reconciler.Relief().Percent, err)
	}
}

func TestAMachineWithoutCounters(t *testing.T) {
	reconciler, in := reconcilerOf(t, Options{CPI: true, Kernel: &counters{missing: errors.New("this machine has none")}}), snapshot(t)
	if err := reconciler.Reconcile(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	if got := reconciler.State(); got.CPIUnavailable != "this machine has none" || got.Relief.Keeps() != 100 {
		t.Errorf("%+v", got)
	}
}
