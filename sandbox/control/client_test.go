package control

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"koordinator.sh/koord/sandbox/state"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestNobodyAnswers(t *testing.T) {
	tests := map[string]func(t *testing.T, dir state.Dir){
		"the sandbox was never started":       func(*testing.T, state.Dir) {},
		"the sandbox is down":                 func(t *testing.T, dir state.Dir) { must(t, dir.Create()) },
		"a dead supervisor's socket is there": leaveSocket,
	}
	for name, prepare := range tests {
		t.Run(name, func(t *testing.T) {
			dir := shortDir(t)
			prepare(t, dir)
			if status, err := NewClient(dir).Status(t.Context()); !errors.Is(err, ErrNotRunning) || status != nil {
				t.Errorf("Status() = %v, %v; want ErrNotRunning", status, err)
			}
			if err := NewClient(dir).Stop(t.Context()); !errors.Is(err, ErrNotRunning) {
				t.Errorf("Stop() = %v; want ErrNotRunning", err)
			}
		})
	}
}

func TestAnswersThatMakeNoSense(t *testing.T) {
	tests := map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"an error":         {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no room", http.StatusInsufficientStorage) }, "507 Insufficient Storage: no room"},
		"no JSON":          {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }, "parse the response of the supervisor: "},
		"another type":     {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"steps": 3}`) }, "parse the response of the supervisor: "},
		"half an answer":   {func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Length", "100") }, "read the response of the supervisor: "},
		"an endless one":   {endless, "parse the response of the supervisor: "},
		"no answer at all": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "call the supervisor of the sandbox: "},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			dir := shortDir(t)
			serve(t, dir, tc.answer)
			status, err := NewClient(dir).Status(t.Context())
			if err == nil || !strings.Contains(err.Error(), tc.want) || status != nil {
				t.Errorf("Status() = %v, %v; want %q", status, err, tc.want)
			}
			if errors.Is(err, ErrNotRunning) {
				t.Error("Status() says that nobody answers; somebody did")
			}
		})
	}
}

func TestAQuestionEndsWithItsContext(t *testing.T) {
	dir := shortDir(t)
	serve(t, dir, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := NewClient(dir).Status(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Status() of a supervisor that hangs = %v; want the context's error", err)
	}
}

func TestRequestsAreWhatTheSupervisorExpects(t *testing.T) {
	dir := shortDir(t)
	var asked []string
	serve(t, dir, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.Path)
		_, _ = io.WriteString(w, `{"phase": "Running", "later": "versions may say more"}`)
	})
	client := NewClient(dir)
	status, err := client.Status(t.Context())
	if err != nil || status.Phase != Running {
		t.Errorf("Status() = %+v, %v; want that it runs", status, err)
	}
	must(t, client.Stop(t.Context()))
	if diff := cmp.Diff([]string{"GET /status", "POST /stop"}, asked); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestSocketOfALongPath(t *testing.T) {
	short, long := state.At("/s/demo"), state.At("/s/"+strings.Repeat("long/", 20)+"demo")
	if got := SocketPath(short); got != "/s/demo/supervisor.sock" {
		t.Errorf("SocketPath() = %q; want it in the sandbox's directory", got)
	}
	got := SocketPath(long)
	if len(got) > maxSocketPath || filepath.Ext(got) != ".sock" {
		t.Errorf("SocketPath() of a long path = %q; want one that a socket can have", got)
	}
	if other := SocketPath(state.At(long.Path() + "2")); other == got {
		t.Errorf("two sandboxes share the socket %q", got)
	}
	t.Setenv("TMPDIR", t.TempDir())
	if again := SocketPath(long); again != got {
		t.Errorf("SocketPath() in a shell with another TMPDIR = %q; want %q", again, got)
	}
}

func TestADirectoryOthersCanWriteTo(t *testing.T) {
	tests := map[string]func(t *testing.T, path string) error{
		"writable for all":       func(_ *testing.T, path string) error { return os.Chmod(path, 0o777) },
		"writable for the group": func(_ *testing.T, path string) error { return os.Chmod(path, 0o770) },
		"another user's": func(t *testing.T, path string) error {
			if os.Getuid() != 0 {
				t.Skip("giving a directory away needs root")
			}
			return os.Chown(path, 4711, -1)
		},
		"a link to somewhere else": func(t *testing.T, path string) error {
			return errors.Join(os.RemoveAll(path), os.Symlink(t.TempDir(), path))
		},
	}
	for name, prepare := range tests {
		t.Run(name, func(t *testing.T) {
			dir := shortDir(t)
			serve(t, dir, func(http.ResponseWriter, *http.Request) { t.Error("the supervisor of another was asked") })
			must(t, prepare(t, dir.Path()))
			const want = "it belongs to another user or is accessible to others"
			if err := MakeSocketDir(dir); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("MakeSocketDir() = %v; want %q", err, want)
			}
			if _, err := NewClient(dir).Status(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("Status() = %v; want %q", err, want)
			}
		})
	}
}

func TestMakeSocketDir(t *testing.T) {
	dir := shortDir(t)
	for range 2 {
		must(t, MakeSocketDir(dir))
	}
	info, err := os.Stat(dir.Path())
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode = %v, %v; want 700", info.Mode(), err)
	}
	must(t, os.RemoveAll(dir.Path()))
	must(t, os.WriteFile(dir.Path(), nil, 0o600))
	if err := MakeSocketDir(dir); err == nil {
		t.Error("MakeSocketDir() in the place of a file = nil; want an error")
	}
}

func endless(w http.ResponseWriter, _ *http.Request) {
	chunk := []byte(strings.Repeat(" ", 1<<20))
	for range 8 {
		if _, err := w.Write(chunk); err != nil {
			return
		}
	}
	_, _ = io.WriteString(w, `{"phase": "Running"}`)
}

// shortDir is a sandbox's directory whose socket lies inside it. It does not exist yet.
func shortDir(t *testing.T) state.Dir {
	t.Helper()
	home, err := os.MkdirTemp("", "k")
	must(t, err)
	t.Cleanup(func() { must(t, os.RemoveAll(home)) })
	return state.At(filepath.Join(home, "s"))
}

func serve(t *testing.T, dir state.Dir, handler http.HandlerFunc) {
	t.Helper()
	must(t, MakeSocketDir(dir))
	listener, err := net.Listen("unix", SocketPath(dir))
	must(t, err)
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Second}
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	t.Cleanup(func() {
		must(t, server.Close())
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
}

// leaveSocket leaves what a supervisor leaves that is killed.
func leaveSocket(t *testing.T, dir state.Dir) {
	t.Helper()
	must(t, dir.Create())
	listener, err := net.Listen("unix", SocketPath(dir))
	must(t, err)
	listener.(*net.UnixListener).SetUnlinkOnClose(false)
	must(t, listener.Close())
	if _, err := os.Stat(SocketPath(dir)); err != nil {
		t.Fatal(err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
