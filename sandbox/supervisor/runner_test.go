package supervisor

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"koordinator.sh/koord/sandbox/component"
	"koordinator.sh/koord/sandbox/control"
	"koordinator.sh/koord/sandbox/process/processtest"
	"koordinator.sh/koord/sandbox/state"
)

// ignorePast leaves out of a comparison what differs from run to run.
var ignorePast = cmpopts.IgnoreFields(control.Component{}, "PID", "StartedAt", "MemoryBytes", "Log")

func TestAComponentStaysUp(t *testing.T) {
	dir := newDir(t)
	r, end := startRunner(t, dir, fake("etcd", "serves", freeAddress()))
	processtest.AwaitClosed(t, "the component to be ready", r.ready)
	got := r.snapshot()
	if diff := cmp.Diff(control.Component{Name: "etcd", Phase: control.Running}, got, ignorePast); diff != "" {
		t.Errorf("component (-want +got):\n%s", diff)
	}
	if got.PID == 0 || gone(got.PID) || got.StartedAt == nil || got.Log != dir.Log("etcd") {
		t.Errorf("component = %+v; want its process, its start and its log", got)
	}
	end()
	if diff := cmp.Diff(control.Component{Name: "etcd", Phase: control.Stopped}, r.snapshot(), ignorePast); diff != "" {
		t.Errorf("component after its end (-want +got):\n%s", diff)
	}
	if !gone(got.PID) || r.snapshot().PID != 0 {
		t.Errorf("process %d is left", got.PID)
	}
}

func TestAComponentWithoutProbeIsReadyOnceItStaysUp(t *testing.T) {
	r, _ := startRunner(t, newDir(t), fake("kwok", "stays", ""))
	processtest.AwaitClosed(t, "the component to be ready", r.ready)
	if got := r.snapshot(); got.Phase != control.Running {
		t.Errorf("phase = %s; want Running", got.Phase)
	}
}

func TestAComponentThatFailsAtOnceIsHopeless(t *testing.T) {
	tests := map[string]struct {
		component component.Component
		want      string // how it ended
		wantLog   string
	}{
		"it ends":             {fake("etcd", "fails", "no data directory"), "exit status 3", "no data directory"},
		"there is no program": {component.Component{Name: "etcd", Program: "/missing/etcd"}, `start "etcd": fork/exec /missing/etcd: no such file or directory`, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			dir := newDir(t)
			c := tc.component
			// With a component that ends this fast, the time to settle must never be over.
			slow := quick
			slow.settle = time.Hour
			r, end := startRunnerWith(t, dir, c, slow)
			processtest.AwaitClosed(t, "the component to be hopeless", r.hopeless)
			if r.wasReady() {
				t.Error("the component counts as ready")
			}
			processtest.Await(t, "the last failure to show", func() bool { return r.snapshot().Restarts >= giveUpAfter })
			if got := r.snapshot(); got.LastExit != tc.want {
				t.Errorf("last exit = %q; want %q", got.LastExit, tc.want)
			}
			end()
			log, err := os.ReadFile(dir.Log("etcd"))
			if err != nil || !strings.Contains(string(log), tc.wantLog) {
				t.Errorf("log = %q, %v; want %q", log, err, tc.wantLog)
			}
		})
	}
}

// TestRestartsWaitLongerAndLonger measures the waits between an end and the next start. A wait can be longer than asked
// for on a busy machine, never shorter.
func TestRestartsWaitLongerAndLonger(t *testing.T) {
	patient := quick
	patient.firstBackOff, patient.lastBackOff, patient.settle = 20*time.Millisecond, 60*time.Millisecond, time.Hour
	var (
		mu    sync.Mutex
		waits []time.Duration
		ended time.Time
	)
	var r *runner
	r = newRunner(newDir(t), fake("etcd", "fails", ""), newTestSpawner(t), patient, func() {
		mu.Lock()
		defer mu.Unlock()
		switch r.snapshot().Phase {
		case control.BackOff:
			ended = time.Now()
		case control.Starting:
			if !ended.IsZero() {
				waits = append(waits, time.Since(ended))
			}
		}
	})
	runUntil(t, r.run)
	want := []time.Duration{20 * time.Millisecond, 40 * time.Millisecond, 60 * time.Millisecond, 60 * time.Millisecond}
	processtest.Await(t, "enough restarts", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(waits) >= len(want)
	})
	mu.Lock()
	defer mu.Unlock()
	for i := range want {
		if waits[i] < want[i] {
			t.Errorf("wait %d = %s; want at least %s", i+1, waits[i], want[i])
		}
	}
}

// TestAComponentIsNotGivenTheUsersFlags: etcd takes ETCD_DISCOVERY, say, for a flag, and does not start.
func TestAComponentIsNotGivenTheUsersFlags(t *testing.T) {
	got := environment([]string{"HOME=/home/ada", "ETCD_DISCOVERY=https://example.com", "KWOK_CONFIG=x", "ETCDCTL_API=3"})
	if diff := cmp.Diff([]string{"HOME=/home/ada", "ETCDCTL_API=3"}, got); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
}

func TestBackOff(t *testing.T) {
	tests := map[string]struct {
		last, up, want time.Duration
	}{
		"the first failure":                    {0, 0, 500 * time.Millisecond},
		"the second":                           {500 * time.Millisecond, time.Second, time.Second},
		"the sixth reaches the limit":          {8 * time.Second, time.Second, 15 * time.Second},
		"those after it stay there":            {15 * time.Second, time.Second, 15 * time.Second},
		"just not long enough up":              {15 * time.Second, time.Minute, 15 * time.Second},
		"it starts over after a good while up": {15 * time.Second, time.Minute + 1, 500 * time.Millisecond},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := usualTiming.backOff(tc.last, tc.up); got != tc.want {
				t.Errorf("backOff(%s, %s) = %s; want %s", tc.last, tc.up, got, tc.want)
			}
		})
	}
}

func TestAKilledComponentIsRestarted(t *testing.T) {
	r, end := startRunner(t, newDir(t), fake("etcd", "serves", freeAddress()))
	processtest.AwaitClosed(t, "the component to be ready", r.ready)
	first := r.snapshot().PID
	processtest.Must(t, syscall.Kill(first, syscall.SIGKILL))
	processtest.Await(t, "another process to run", func() bool {
		c := r.snapshot()
		return c.Phase == control.Running && c.PID != first
	})
	want := control.Component{Name: "etcd", Phase: control.Running, Restarts: 1, LastExit: "signal: killed"}
	second := r.snapshot()
	if diff := cmp.Diff(want, second, ignorePast); diff != "" {
		t.Errorf("component (-want +got):\n%s", diff)
	}
	select {
	case <-r.hopeless:
		t.Error("a component that was ready once counts as hopeless")
	default:
	}
	end()
	if !gone(second.PID) || !gone(first) {
		t.Error("a process is left")
	}
}

// TestAStubbornComponentIsKilled stops a process that ignores SIGTERM and has a child of the same kind.
func TestAStubbornComponentIsKilled(t *testing.T) {
	dir := newDir(t)
	file := filepath.Join(dir.Path(), "grandchild")
	impatient := quick
	impatient.grace = 100 * time.Millisecond
	r, end := startRunnerWith(t, dir, fake("etcd", "stubborn", file), impatient)
	var grandchild int
	processtest.Await(t, "the grandchild to run", func() bool {
		data, err := os.ReadFile(file)
		if err != nil {
			return false
		}
		grandchild, err = strconv.Atoi(string(data))
		return err == nil
	})
	child, began := r.snapshot().PID, time.Now()
	end()
	if took := time.Since(began); took < impatient.grace {
		t.Errorf("it was killed after %s; want it to have %s", took, impatient.grace)
	}
	if !gone(child) {
		t.Error("the process is left")
	}
	processtest.Await(t, "the grandchild to be gone", func() bool { return gone(grandchild) })
}

func TestAComponentThatWaitsForItsRestartStops(t *testing.T) {
	patient := quick
	patient.firstBackOff = time.Hour
	r, end := startRunnerWith(t, newDir(t), fake("etcd", "fails", ""), patient)
	processtest.Await(t, "the component to wait", func() bool { return r.snapshot().Phase == control.BackOff })
	end()
	if got := r.snapshot(); got.Phase != control.Stopped || got.LastExit != "exit status 3" {
		t.Errorf("component = %+v; want it stopped, and how it ended", got)
	}
}

func startRunner(t *testing.T, dir state.Dir, c component.Component) (*runner, func()) {
	t.Helper()
	return startRunnerWith(t, dir, c, quick)
}

func startRunnerWith(t *testing.T, dir state.Dir, c component.Component, with timing) (*runner, func()) {
	t.Helper()
	r := newRunner(dir, c, newTestSpawner(t), with, func() {})
	return r, runUntil(t, func(ctx context.Context) { r.run(ctx) })
}
