package launch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/sandbox/control"
	"koordinator.sh/koord/sandbox/process"
	"koordinator.sh/koord/sandbox/process/processtest"
	"koordinator.sh/koord/sandbox/state"
)

func TestStartDetachesASupervisor(t *testing.T) {
	s := newSandbox(t)
	spec := state.Spec{Name: "demo", Nodes: 3, Speed: 1, Binaries: processtest.Programs(t, "koord-sandbox")}
	processtest.Play(t, "works")
	processtest.Must(t, s.Start(t.Context(), spec, nil))
	status, err := s.Look(t.Context())
	processtest.Must(t, err)
	if status.Phase != control.Running {
		t.Errorf("phase = %s; want Running", status.Phase)
	}
	if diff := cmp.Diff(spec, status.Spec); diff != "" {
		t.Errorf("spec that the supervisor read (-want +got):\n%s", diff)
	}
	if session, err := unix.Getsid(status.PID); err != nil || session != status.PID {
		t.Errorf("session of the supervisor = %d, %v; want one of its own, so that it outlives this terminal", session, err)
	}
	supervisor := state.Process{PID: status.PID, StartTime: process.StartTime(status.PID)}
	processtest.Must(t, s.Stop(t.Context()))
	if process.Alive(supervisor) {
		t.Error("the supervisor is left")
	}
}

func TestStartOfASupervisorThatEnds(t *testing.T) {
	const hint = "kubectl koord sandbox logs supervisor --name demo"
	tests := map[string]string{
		"fails":          "the supervisor of the sandbox exited immediately (exit status 1): parse spec.json: unexpected end of input",
		"fails silently": "the supervisor of the sandbox exited immediately (exit status 1): its log is empty",
		"gives up":       "the supervisor of the sandbox exited immediately: nothing to do",
	}
	for how, want := range tests {
		t.Run(how, func(t *testing.T) {
			s := created(t)
			processtest.Must(t, os.WriteFile(s.Dir.Log("supervisor"), []byte("an earlier start's failure\n"), 0o600))
			processtest.Play(t, how)
			err := s.Start(t.Context(), state.Spec{Name: "demo", Binaries: processtest.Programs(t, "koord-sandbox")}, nil)
			found, ok := finding.From(err)
			if !ok || found.Error() != want || found.Code != finding.SandboxComponentFailed || found.Hint != hint {
				t.Errorf("Start() = %v; want KOORD0505 %q, hint %q", err, want, hint)
			}
		})
	}
}

func TestStartThatCannotBegin(t *testing.T) {
	tests := map[string]struct {
		prepare  func(t *testing.T, s Sandbox) string // returns the programs' directory
		wantCode finding.Code
		want     string
	}{
		"the program is missing": {
			prepare: func(t *testing.T, _ Sandbox) string { return t.TempDir() },
			want:    "start the sandbox's supervisor: ",
		},
		"the directory is another user's": {
			prepare: func(t *testing.T, s Sandbox) string {
				if os.Getuid() != 0 {
					t.Skip("giving a directory away needs root")
				}
				processtest.Must(t, os.Chown(filepath.Dir(s.Dir.Path()), 4711, -1))
				return processtest.Programs(t, "koord-sandbox")
			},
			wantCode: finding.SandboxForeignOwner,
			want:     "it belongs to user 4711",
		},
		"a file is in the place of the home directory": {
			prepare: func(t *testing.T, s Sandbox) string {
				home := filepath.Dir(s.Dir.Path())
				processtest.Must(t, os.Remove(home))
				processtest.Must(t, os.WriteFile(home, nil, 0o600))
				return processtest.Programs(t, "koord-sandbox")
			},
			wantCode: finding.InvalidArgument,
			want:     "create directory of sandboxes: ",
		},
		"a file is in the directory's place": {
			prepare: func(t *testing.T, s Sandbox) string {
				processtest.Must(t, os.WriteFile(s.Dir.Path(), nil, 0o600))
				return processtest.Programs(t, "koord-sandbox")
			},
			wantCode: finding.InvalidArgument,
			want:     "create sandbox directory: ",
		},
		"the log cannot be written": {
			prepare: func(t *testing.T, s Sandbox) string {
				processtest.Must(t, os.MkdirAll(s.Dir.Log("supervisor"), 0o700))
				return processtest.Programs(t, "koord-sandbox")
			},
			want: "open the supervisor's log: ",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newSandbox(t)
			binaries := tc.prepare(t, s)
			processtest.Play(t, "fails")
			err := s.Start(t.Context(), state.Spec{Name: "demo", Binaries: binaries}, nil)
			var code finding.Code
			if found, ok := finding.From(err); ok {
				code = found.Code
			}
			if !says(err, tc.want) || code != tc.wantCode {
				t.Errorf("Start() = %v, code %q; want %q, code %q", err, code, tc.want, tc.wantCode)
			}
		})
	}
}

func TestAwait(t *testing.T) {
	starting := &control.Status{Phase: control.Starting, Steps: []control.Step{{Name: "wait for etcd", Phase: control.Running}}}
	tests := map[string]struct {
		statuses  []*control.Status
		want      []control.Phase
		wantError string
		wantCode  finding.Code
		wantHint  string
	}{
		"it starts": {
			statuses: []*control.Status{starting, starting, {Phase: control.Running}},
			want:     []control.Phase{control.Starting, control.Starting, control.Running},
		},
		"a component fails": {
			statuses: []*control.Status{starting, {
				Phase: control.Failed, Message: "wait for koordlets: it ended 5 times", Code: "KOORD0505",
				Components: []control.Component{{Name: "etcd", Phase: control.Running}, {Name: "koordlets", Phase: control.BackOff}},
			}},
			want:      []control.Phase{control.Starting, control.Failed},
			wantError: "wait for koordlets: it ended 5 times",
			wantCode:  finding.SandboxComponentFailed,
			wantHint:  "kubectl koord sandbox logs koordlets --name demo",
		},
		"it fails with all components up": {
			statuses:  []*control.Status{{Phase: control.Failed, Message: "no batch resources", Code: "KOORD0505"}},
			want:      []control.Phase{control.Failed},
			wantError: "no batch resources",
			wantCode:  finding.SandboxComponentFailed,
			wantHint:  "kubectl koord sandbox logs supervisor --name demo",
		},
		"it fails and knows what to do": {
			statuses:  []*control.Status{{Phase: control.Failed, Message: "no room", Code: "KOORD0503", Hint: "free some space"}},
			want:      []control.Phase{control.Failed},
			wantError: "no room",
			wantCode:  finding.SandboxDiskFull,
			wantHint:  "free some space",
		},
		"somebody else takes it down": {
			statuses:  []*control.Status{starting, {Phase: control.Stopping}},
			want:      []control.Phase{control.Starting, control.Stopping},
			wantError: "the sandbox is being stopped",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := created(t)
			processtest.Answer(t, s.Dir, tc.statuses...)
			var seen []control.Phase
			status, err := s.Await(t.Context(), func(status *control.Status) { seen = append(seen, status.Phase) })
			if diff := cmp.Diff(tc.want, seen); diff != "" {
				t.Errorf("phases seen (-want +got):\n%s", diff)
			}
			if tc.wantError == "" {
				if err != nil || status.Phase != control.Running {
					t.Errorf("Await() = %+v, %v; want that it runs", status, err)
				}
				return
			}
			var got finding.Error
			if found, ok := finding.From(err); ok {
				got = *found
			}
			if !says(err, tc.wantError) || got.Code != tc.wantCode || got.Hint != tc.wantHint {
				t.Errorf("Await() = %v, %s, %q; want %q, %s, %q", err, got.Code, got.Hint, tc.wantError, tc.wantCode, tc.wantHint)
			}
		})
	}
}

func TestAwaitOfASupervisorThatDies(t *testing.T) {
	s := created(t)
	processtest.Must(t, os.WriteFile(s.Dir.Log("supervisor"), []byte("panic: out of memory\n"), 0o600))
	processtest.Answer(t, s.Dir, &control.Status{Phase: control.Starting})
	_, err := s.Await(t.Context(), func(*control.Status) { processtest.Must(t, os.Remove(control.SocketPath(s.Dir))) })
	const want = "the supervisor of the sandbox exited while the sandbox was starting: panic: out of memory"
	found, ok := finding.From(err)
	if !ok || found.Error() != want || found.Code != finding.SandboxComponentFailed {
		t.Errorf("Await() = %v; want KOORD0505 %q", err, want)
	}
}

func TestAwaitEndsWithItsContext(t *testing.T) {
	s := created(t)
	processtest.Answer(t, s.Dir, &control.Status{Phase: control.Starting})
	ctx, cancel := context.WithCancel(t.Context())
	_, err := s.Await(ctx, func(*control.Status) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Await() = %v; want that it was interrupted", err)
	}
}

func TestCommand(t *testing.T) {
	for name, want := range map[string]string{
		"default": "koordctl sandbox logs etcd",
		"demo":    "koordctl sandbox logs etcd --name demo",
	} {
		if got := (Sandbox{Name: name, Program: "koordctl"}).Command("logs etcd"); got != want {
			t.Errorf("Command() for sandbox %q = %q; want %q", name, got, want)
		}
	}
}
