package launch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"go.uber.org/goleak"

	"koordinator.sh/koord/sandbox/control"
	"koordinator.sh/koord/sandbox/process"
	"koordinator.sh/koord/sandbox/state"
)

// behaviour is the variable that makes the test's program a supervisor of some kind.
const behaviour = "KOORD_TEST_BEHAVIOUR"

func TestMain(m *testing.M) {
	how, ok := behaviours[os.Getenv(behaviour)]
	if !ok {
		goleak.VerifyTestMain(m)
		return
	}
	if len(os.Args) != 3 || os.Args[1] != "supervise" {
		fmt.Println("called with", os.Args[1:])
		os.Exit(9)
	}
	how(state.At(os.Args[2]))
}

var behaviours = map[string]func(state.Dir){
	"fails": func(state.Dir) {
		fmt.Print("loading the specification\nparse spec.json: unexpected end of input\n")
		os.Exit(1)
	},
	"fails silently": func(state.Dir) { os.Exit(1) },
	"gives up":       func(state.Dir) { fmt.Println("nothing to do") },
	"works":          func(dir state.Dir) { superviseUntilStopped(dir) },
	// hangs holds the lock and answers nobody.
	"hangs": func(dir state.Dir) {
		lockAndRecord(dir)
		time.Sleep(time.Minute) // to be ended; or the test is gone
	},
}

// superviseUntilStopped is a supervisor of nothing.
func superviseUntilStopped(dir state.Dir) {
	lock := lockAndRecord(dir)
	stop := make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) {
		spec, _ := dir.ReadSpec()
		_ = json.NewEncoder(w).Encode(control.Status{Phase: control.Running, PID: os.Getpid(), Spec: spec})
	})
	mux.HandleFunc("POST /stop", func(http.ResponseWriter, *http.Request) { close(stop) })
	listener, err := net.Listen("unix", control.SocketPath(dir))
	exitOn(err)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Second}
	go func() { _ = server.Serve(listener) }()
	select {
	case <-stop:
	case <-time.After(time.Minute): // the test is gone
	}
	exitOn(server.Shutdown(context.Background()))
	exitOn(lock.Unlock())
}

func lockAndRecord(dir state.Dir) *flock.Flock {
	lock := flock.New(dir.Lock())
	locked, err := lock.TryLock()
	if !locked {
		err = errors.Join(err, errors.New("the lock is held"))
	}
	exitOn(err)
	exitOn(dir.WriteProcesses([]state.Process{{Component: "supervisor", PID: os.Getpid(), StartTime: process.StartTime(os.Getpid())}}))
	return lock
}

func exitOn(err error) {
	if err != nil {
		fmt.Println(err)
		os.Exit(8)
	}
}

// programs is a directory with the test's program under the names of the sandbox's.
func programs(t *testing.T, names ...string) string {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	dir := t.TempDir()
	for _, name := range names {
		must(t, os.Symlink(self, filepath.Join(dir, name)))
	}
	return dir
}

// newSandbox has a path short enough for a socket. It does not exist yet.
func newSandbox(t *testing.T) Sandbox {
	t.Helper()
	home, err := os.MkdirTemp("", "k")
	must(t, err)
	t.Cleanup(func() { must(t, os.RemoveAll(home)) })
	return Sandbox{Name: "demo", Dir: state.At(filepath.Join(home, "s")), Program: "kubectl koord"}
}

// created is a sandbox that was started once.
func created(t *testing.T) Sandbox {
	t.Helper()
	s := newSandbox(t)
	must(t, s.Dir.Create())
	must(t, s.Dir.WriteSpec(state.Spec{Name: s.Name, Nodes: 3, Speed: 1}))
	return s
}

// superviseAs runs the test's program as a supervisor and returns once it holds the lock.
func superviseAs(t *testing.T, s Sandbox, how string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], "supervise", s.Dir.Path())
	cmd.Env = append(os.Environ(), behaviour+"="+how)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	must(t, cmd.Start())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
	})
	await(t, "the supervisor to be recorded", func() bool {
		recorded, err := s.Dir.ReadProcesses()
		return err == nil && len(recorded) == 1
	})
	return cmd
}

// answer plays a supervisor inside the test: one status after the other, the last one for ever.
func answer(t *testing.T, s Sandbox, statuses ...*control.Status) {
	t.Helper()
	must(t, control.MakeSocketDir(s.Dir))
	listener, err := net.Listen("unix", control.SocketPath(s.Dir))
	must(t, err)
	var mu sync.Mutex
	server := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		status := statuses[0]
		if len(statuses) > 1 {
			statuses = statuses[1:]
		}
		_ = json.NewEncoder(w).Encode(status)
	})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener)
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-done
	})
}

// await polls a condition until it holds.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-ctx.Done():
			t.Fatalf("waited in vain for %s", what)
		case <-tick.C:
		}
	}
}

func says(err error, text string) bool { return err != nil && strings.Contains(err.Error(), text) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
