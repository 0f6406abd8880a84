package supervisor

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"koordinator.sh/koord/sandbox/component"
	"koordinator.sh/koord/sandbox/process"
	"koordinator.sh/koord/sandbox/process/processtest"
	"koordinator.sh/koord/sandbox/state"
)

// called is the variable with a fake component's name.
const called = "KOORD_TEST_NAME"

func TestMain(m *testing.M) { processtest.Main(m, behaviours) }

// behaviours are the components that the test's program plays.
var behaviours = processtest.Behaviours{
	// serves answers probes on an address until it is asked to end.
	"serves": func(address string) { serveUntilTerm(address) },
	// fails at once.
	"fails": func(message string) {
		fmt.Println(message)
		os.Exit(3)
	},
	// stays up and says nothing.
	"stays": func(string) { stay() },
	// testifies serves and appends its name to a file when it is asked to end.
	"testifies": func(addressAndFile string) {
		address, file, _ := strings.Cut(addressAndFile, "@")
		serveUntilTerm(address)
		out, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err == nil {
			_, err = fmt.Fprintln(out, os.Getenv(called))
		}
		if err != nil {
			os.Exit(1)
		}
	},
	// stubborn does not end when asked to, and has a child that does not either, whose number it writes to a file.
	"stubborn": func(file string) {
		signal.Ignore(syscall.SIGTERM)
		child := exec.Command(os.Args[0]) // in this process's own group
		child.Env = append(os.Environ(), processtest.Environment("deaf", "")...)
		if err := child.Start(); err != nil {
			os.Exit(1)
		}
		if err := state.WriteFile(file, fmt.Append(nil, child.Process.Pid)); err != nil {
			os.Exit(1)
		}
		processtest.Linger()
	},
	"deaf": func(string) {
		signal.Ignore(syscall.SIGTERM)
		processtest.Linger()
	},
	// supervises the sandbox in a directory until it is killed.
	"supervises": func(dir string) {
		address := freeAddress()
		err := run(context.Background(), state.At(dir), quick, bringUp(fake("etcd", "stays", ""), fake("kube-apiserver", "serves", address)))
		fmt.Println(err)
	},
}

// serveUntilTerm answers on an address once it minds SIGTERM.
func serveUntilTerm(address string) {
	term := make(chan os.Signal, 1)
	signal.Notify(term, syscall.SIGTERM)
	server := &http.Server{Addr: address, ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})}
	go func() { fmt.Println(server.ListenAndServe()) }()
	wait(term)
}

func stay() {
	term := make(chan os.Signal, 1)
	signal.Notify(term, syscall.SIGTERM)
	wait(term)
}

func wait(term <-chan os.Signal) {
	select {
	case <-term:
	case <-time.After(time.Minute): // the test is gone
	}
}

// quick is the timing of the tests.
var quick = timing{
	firstBackOff: 5 * time.Millisecond,
	lastBackOff:  20 * time.Millisecond,
	stayedUp:     time.Hour,
	settle:       10 * time.Millisecond,
	grace:        time.Minute,
}

// fake is a component that is played by the test's program. One that has an address is probed there.
func fake(name, how, with string) component.Component {
	c := component.Component{Name: name, Program: os.Args[0], Env: append(processtest.Environment(how, with), called+"="+name)}
	if how == "serves" || how == "testifies" {
		address, _, _ := strings.Cut(with, "@")
		c.Ready.URL = "http://" + address + "/readyz"
	}
	return c
}

// bringUp starts components one after the other, as the start of a sandbox does with real ones.
func bringUp(components ...component.Component) func(*boot, context.Context) error {
	return func(b *boot, ctx context.Context) error {
		for _, c := range components {
			b.components[c.Name] = c
			if err := b.startAndWait(ctx, c.Name); err != nil {
				return err
			}
		}
		return nil
	}
}

func freeAddress() string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}

// newDir is the directory of a sandbox that was asked for, with a path short enough for a socket.
func newDir(t *testing.T) state.Dir {
	t.Helper()
	dir := state.At(filepath.Join(processtest.Home(t), "s"))
	processtest.Must(t, dir.Create())
	processtest.Must(t, dir.WriteSpec(state.Spec{Name: "demo", Nodes: 3, Seed: 1, Speed: 1}))
	return dir
}

// newTestSpawner ends with the test.
func newTestSpawner(t *testing.T) *spawner {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	return newSpawner(ctx)
}

// runUntil runs something in the background; the returned function ends it and waits. It is called at the test's end at
// the latest.
func runUntil(t *testing.T, do func(context.Context)) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { do(ctx) })
	end = func() {
		cancel()
		running.Wait()
	}
	t.Cleanup(end)
	return end
}

// gone reports whether a process has ended, if need be without its parent knowing yet.
func gone(pid int) bool { return process.StartTime(pid) == 0 }
