package supervisor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/sandbox/component"
	"koordinator.sh/koord/sandbox/control"
	"koordinator.sh/koord/sandbox/process"
	"koordinator.sh/koord/sandbox/process/processtest"
	"koordinator.sh/koord/sandbox/state"
)

// ignoreTimes leaves out when steps were.
var ignoreTimes = cmpopts.IgnoreFields(control.Step{}, "StartedAt", "EndedAt")

func TestASandboxRunsUntilItIsAskedToStop(t *testing.T) {
	dir := newDir(t)
	result := startSupervisor(t, dir, bringUp(fake("etcd", "stays", ""), fake("kube-apiserver", "serves", freeAddress())))
	got := awaitPhase(t, dir, control.Running)
	want := &control.Status{
		APIVersion: "diagnostics.koordinator.sh/v1alpha1", Kind: "SandboxStatus",
		Spec:  state.Spec{Name: "demo", Nodes: 3, Seed: 1, Speed: 1},
		Phase: control.Running, PID: os.Getpid(),
		Directory: dir.Path(), Kubeconfig: dir.Kubeconfig(), Context: "koord-sandbox-demo",
		Steps: []control.Step{{Name: "wait for etcd", Phase: control.Done}, {Name: "wait for kube-apiserver", Phase: control.Done}},
		Components: []control.Component{
			{Name: "etcd", Phase: control.Running}, {Name: "kube-apiserver", Phase: control.Running},
		},
	}
	if diff := cmp.Diff(want, got, ignoreTimes, ignorePast, cmpopts.IgnoreFields(control.Status{}, "StartedAt")); diff != "" {
		t.Errorf("status over the socket (-want +got):\n%s", diff)
	}
	for _, c := range got.Components {
		if c.MemoryBytes == 0 || c.StartedAt == nil {
			t.Errorf("component %+v; want its memory and its start", c)
		}
	}
	info, err := os.Stat(control.SocketPath(dir))
	processtest.Must(t, err)
	if got := info.Mode(); got != os.ModeSocket|0o600 {
		t.Errorf("mode of the socket = %s; want it for the owner alone", got)
	}
	recorded, err := dir.ReadProcesses()
	processtest.Must(t, err)
	for _, p := range recorded {
		if !process.Alive(p) {
			t.Errorf("recorded process %+v does not run", p)
		}
	}
	if len(recorded) != 3 {
		t.Errorf("recorded processes %+v; want the supervisor and two components", recorded)
	}
	processtest.Must(t, control.NewClient(dir).Stop(t.Context()))
	processtest.Must(t, <-result)
	wantNothingLeft(t, dir, recorded)
}

func TestASandboxStopsWithItsContext(t *testing.T) {
	dir := newDir(t)
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error, 1)
	started := make(chan struct{})
	go func() {
		result <- run(ctx, dir, quick, func(b *boot, ctx context.Context) error {
			b.components["etcd"] = fake("etcd", "stays", "")
			b.start(ctx, "etcd")
			close(started)
			<-ctx.Done() // in the middle of the start
			return ctx.Err()
		})
	}()
	processtest.AwaitClosed(t, "the component to be started", started)
	processtest.Await(t, "its process to be recorded", func() bool { return len(processes(t, dir)) == 2 })
	recorded := processes(t, dir)
	cancel()
	processtest.Must(t, <-result)
	wantNothingLeft(t, dir, recorded)
}

// TestTheControlPlaneStopsLast: what talks to the API server ends before it, and the API server before etcd.
func TestTheControlPlaneStopsLast(t *testing.T) {
	dir := newDir(t)
	file := filepath.Join(dir.Path(), "ends")
	var witnesses []component.Component
	for _, name := range []string{"etcd", "kube-apiserver", "koord-manager", "koordlets"} {
		witnesses = append(witnesses, fake(name, "testifies", freeAddress()+"@"+file))
	}
	result := startSupervisor(t, dir, bringUp(witnesses...))
	awaitPhase(t, dir, control.Running)
	processtest.Must(t, control.NewClient(dir).Stop(t.Context()))
	processtest.Must(t, <-result)
	data, err := os.ReadFile(file)
	processtest.Must(t, err)
	ends := strings.Fields(string(data))
	if len(ends) != 4 {
		t.Fatalf("components ended: %v; want all four to have ended by themselves", ends)
	}
	if diff := cmp.Diff([]string{"kube-apiserver", "etcd"}, ends[2:]); diff != "" {
		t.Errorf("the last to end (-want +got):\n%s", diff)
	}
}

func TestAStartThatFailsIsTold(t *testing.T) {
	tests := map[string]struct {
		fail     func(b *boot, ctx context.Context) error
		want     string
		wantCode finding.Code
		wantHint string
		wantStep control.Step
	}{
		"a component does not stay up": {
			fail:     bringUp(neverReady(fake("kwok", "fails", "unknown flag: --nodes"))),
			want:     "wait for kwok: it exited 5 times (exit status 3)",
			wantCode: finding.SandboxComponentFailed,
			wantStep: control.Step{Name: "wait for kwok", Phase: control.Failed},
		},
		"a step says what to do": {
			fail: func(b *boot, ctx context.Context) error {
				return b.step(ctx, "look for room", func(_ context.Context, detail func(string)) error {
					detail("3 of 7")
					return finding.Wrap(errors.New("no room"), finding.SandboxDiskFull, "free some space")
				})
			},
			want: "look for room: no room", wantCode: finding.SandboxDiskFull, wantHint: "free some space",
			wantStep: control.Step{Name: "look for room", Phase: control.Failed, Detail: "3 of 7"},
		},
		"a component was never started": {
			fail:     func(b *boot, ctx context.Context) error { return b.wait(ctx, "kwok") },
			want:     `component "kwok" was not started`,
			wantCode: finding.SandboxComponentFailed,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			dir := newDir(t)
			result := startSupervisor(t, dir, func(b *boot, ctx context.Context) error {
				if err := bringUp(fake("etcd", "stays", ""))(b, ctx); err != nil {
					return err
				}
				return tc.fail(b, ctx)
			})
			got := awaitPhase(t, dir, control.Failed)
			if got.Message != tc.want || got.Code != string(tc.wantCode) || got.Hint != tc.wantHint {
				t.Errorf("failure %q, %s, %q; want %q, %s, %q", got.Message, got.Code, got.Hint, tc.want, tc.wantCode, tc.wantHint)
			}
			if last := got.Steps[len(got.Steps)-1]; tc.wantStep.Name != "" {
				if diff := cmp.Diff(tc.wantStep, last, ignoreTimes); diff != "" {
					t.Errorf("last step (-want +got):\n%s", diff)
				}
			}
			if c := got.Components[0]; c.Phase != control.Running {
				t.Errorf("etcd = %+v; want it to go on, so that it can be looked at", c)
			}
			recorded := processes(t, dir)
			processtest.Must(t, control.NewClient(dir).Stop(t.Context()))
			processtest.Must(t, <-result)
			wantNothingLeft(t, dir, recorded)
		})
	}
}

func TestOneSupervisorForASandbox(t *testing.T) {
	dir := newDir(t)
	result := startSupervisor(t, dir, bringUp())
	awaitPhase(t, dir, control.Running)
	second := run(t.Context(), dir, quick, func(*boot, context.Context) error {
		t.Error("a second supervisor starts components")
		return nil
	})
	if !errors.Is(second, ErrAlreadyRunning) {
		t.Errorf("run() = %v; want ErrAlreadyRunning", second)
	}
	awaitPhase(t, dir, control.Running) // and the first still answers
	processtest.Must(t, control.NewClient(dir).Stop(t.Context()))
	processtest.Must(t, <-result)
}

// TestAKilledSupervisorLeavesNothingInTheWay kills a supervisor with SIGKILL and starts another on what it left.
func TestAKilledSupervisorLeavesNothingInTheWay(t *testing.T) {
	dir := newDir(t)
	cmd := processtest.Command("supervises", dir.Path())
	wait := processtest.Start(t, cmd)
	awaitPhase(t, dir, control.Running)
	recorded := processes(t, dir)
	processtest.Must(t, cmd.Process.Kill())
	if how := wait(); how != "signal: killed" {
		t.Errorf("the supervisor ended by itself: %s", how)
	}
	if _, err := os.Stat(control.SocketPath(dir)); err != nil {
		t.Errorf("the killed supervisor's socket: %v; want it left behind", err)
	}

	result := startSupervisor(t, dir, bringUp(fake("etcd", "stays", "")))
	got := awaitPhase(t, dir, control.Running)
	for _, p := range recorded {
		if process.Alive(p) {
			t.Errorf("%+v of the killed supervisor still runs", p)
		}
	}
	if got.PID != os.Getpid() || got.Components[0].Restarts != 0 {
		t.Errorf("status = %+v; want that of the second supervisor", got)
	}
	recorded = processes(t, dir)
	processtest.Must(t, control.NewClient(dir).Stop(t.Context()))
	processtest.Must(t, <-result)
	wantNothingLeft(t, dir, recorded)
}

func TestASandboxThatCannotBeSupervised(t *testing.T) {
	tests := map[string]struct {
		dir  func(t *testing.T) state.Dir
		want string
	}{
		"it has no directory":       {func(t *testing.T) state.Dir { return state.At(filepath.Join(t.TempDir(), "missing")) }, "lock sandbox "},
		"nobody said what it is":    {emptyDir, "read spec.json: "},
		"its directory is not safe": {openDir, "it belongs to another user or is accessible to others"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			dir := tc.dir(t)
			if err := Run(t.Context(), dir); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("Run() = %v; want %q", err, tc.want)
			}
			if _, err := os.Stat(dir.Path()); err != nil {
				return
			}
			lock := flock.New(dir.Lock())
			if locked, err := lock.TryLock(); !locked || err != nil {
				t.Errorf("TryLock() afterwards = %t, %v; want it free", locked, err)
			}
			processtest.Must(t, lock.Unlock())
		})
	}
}

func TestWhatASandboxNeedsOnDisk(t *testing.T) {
	dir := newDir(t)
	s := &Supervisor{dir: dir, spec: state.Spec{Name: "demo", Nodes: 3, Speed: 1, Binaries: "/opt/koord"}}
	b := newBoot(s, nil)
	processtest.Must(t, b.prepare(t.Context(), func(string) {}))
	var names []string
	for _, c := range b.plan.All() {
		names = append(names, c.Name)
		if b.components[c.Name].Name != c.Name {
			t.Errorf("component %q cannot be started", c.Name)
		}
	}
	want := []string{"etcd", "kube-apiserver", "kube-controller-manager", "kwok", "koord-manager", "koord-scheduler", "koord-descheduler", "koordlets"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("components (-want +got):\n%s", diff)
	}
	for _, file := range []string{dir.Kubeconfig(), filepath.Join(dir.Config(), "kwok.yaml"), b.plan.Bundle.APIServer.CertFile} {
		if _, err := os.Stat(file); err != nil {
			t.Error(err)
		}
	}
	if got, want := s.Status().Server, fmt.Sprintf("https://127.0.0.1:%d", b.plan.Ports.APIServer); got != want {
		t.Errorf("server = %q; want %q", got, want)
	}
}

func TestAWantedPortThatIsTaken(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	processtest.Must(t, err)
	defer func() { processtest.Must(t, listener.Close()) }()
	port := listener.Addr().(*net.TCPAddr).Port
	s := &Supervisor{dir: newDir(t), spec: state.Spec{Name: "demo", APIServerPort: port}}
	found, ok := finding.From(newBoot(s, nil).prepare(t.Context(), func(string) {}))
	if !ok || found.Code != finding.SandboxPortTaken || !strings.Contains(found.Hint, "--api-server-port") || !strings.Contains(found.Error(), fmt.Sprint(port)) {
		t.Errorf("prepare() = %+v; want KOORD0502 about port %d and how to choose another", found, port)
	}
}

// neverReady probes a component on an address without a server.
func neverReady(c component.Component) component.Component {
	c.Ready.URL = "http://" + freeAddress()
	return c
}

// startSupervisor runs a supervisor in the background. The channel has its result; it is stopped with the test at the
// latest.
func startSupervisor(t *testing.T, dir state.Dir, up func(*boot, context.Context) error) <-chan error {
	t.Helper()
	result := make(chan error, 1)
	runUntil(t, func(ctx context.Context) { result <- run(ctx, dir, quick, up) })
	return result
}

// awaitPhase asks over the socket until the sandbox is in a phase.
func awaitPhase(t *testing.T, dir state.Dir, phase control.Phase) (status *control.Status) {
	t.Helper()
	processtest.Await(t, "phase "+string(phase), func() bool {
		var err error
		status, err = control.NewClient(dir).Status(t.Context())
		return err == nil && status.Phase == phase
	})
	return status
}

func processes(t *testing.T, dir state.Dir) []state.Process {
	t.Helper()
	recorded, err := dir.ReadProcesses()
	processtest.Must(t, err)
	return recorded
}

func wantNothingLeft(t *testing.T, dir state.Dir, recorded []state.Process) {
	t.Helper()
	for _, p := range recorded {
		if p.PID != os.Getpid() && process.Alive(p) {
			t.Errorf("%+v is left", p)
		}
	}
	if left := processes(t, dir); left != nil {
		t.Errorf("recorded processes %+v; want none", left)
	}
	if _, err := os.Stat(control.SocketPath(dir)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket: %v; want that it is gone", err)
	}
	if _, err := control.NewClient(dir).Status(t.Context()); !errors.Is(err, control.ErrNotRunning) {
		t.Errorf("Status() = %v; want ErrNotRunning", err)
	}
	lock := flock.New(dir.Lock())
	if locked, err := lock.TryLock(); !locked || err != nil {
		t.Errorf("TryLock() = %t, %v; want the lock free", locked, err)
	}
	processtest.Must(t, lock.Unlock())
}

func emptyDir(t *testing.T) state.Dir {
	t.Helper()
	dir := newDir(t)
	processtest.Must(t, os.Remove(filepath.Join(dir.Path(), "spec.json")))
	return dir
}

func openDir(t *testing.T) state.Dir {
	t.Helper()
	dir := newDir(t)
	processtest.Must(t, os.Chmod(dir.Path(), 0o777))
	return dir
}

func TestStepsHaveTheirTimes(t *testing.T) {
	s := &Supervisor{dir: newDir(t)}
	before := time.Now()
	processtest.Must(t, s.step(t.Context(), "count", func(_ context.Context, detail func(string)) error {
		detail("1 of 2")
		if got := s.Status().Steps[0]; got.Phase != control.Running || got.Detail != "1 of 2" || got.EndedAt != nil {
			t.Errorf("step while it runs = %+v", got)
		}
		return nil
	}))
	got := s.Status().Steps[0]
	if got.Phase != control.Done || got.StartedAt.Before(before) || got.EndedAt.Before(*got.StartedAt) {
		t.Errorf("step after its end = %+v; want it done, with its times in order", got)
	}
}
