// Package processtest lets tests of sandboxes use real processes: the test's own program plays the supervisor, or one of
// the components, when it is started with a behaviour in its environment.
package processtest

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// Environment variables of a played process.
const (
	behaviourVariable = "KOORD_TEST_BEHAVIOUR"
	objectVariable    = "KOORD_TEST_OBJECT"
)

// life bounds how long a played process waits, so that none is left when its test is gone.
const life = time.Minute

// Behaviours are what the test's program can play, by name. Each is given the object of Environment.
type Behaviours map[string]func(object string)

// Main is the TestMain of a package whose program plays processes. The package's own tests must leave no goroutine.
func Main(m *testing.M, behaviours Behaviours) {
	if play, ok := behaviours[os.Getenv(behaviourVariable)]; ok {
		play(os.Getenv(objectVariable))
		return
	}
	goleak.VerifyTestMain(m)
}

// Environment is what makes the test's program play a behaviour, KEY=VALUE.
func Environment(behaviour, object string) []string {
	return []string{behaviourVariable + "=" + behaviour, objectVariable + "=" + object}
}

// Play makes every program that the test starts from here on play a behaviour.
func Play(t *testing.T, behaviour string) {
	t.Helper()
	t.Setenv(behaviourVariable, behaviour)
}

// Command is the test's program with a behaviour, as the leader of a new session, and so of a new process group.
func Command(behaviour, object string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), Environment(behaviour, object)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd
}

// Start runs a command until the test's end at the latest. The returned function waits for its end and says how it came.
func Start(t *testing.T, cmd *exec.Cmd) (wait func() string) {
	t.Helper()
	Must(t, cmd.Start())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // its state says how
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
	})
	return func() string {
		<-ended
		return cmd.ProcessState.String()
	}
}

// StartReady runs a behaviour that calls Linger and returns when it does. Its parent does not ask how it ends before wait
// is called: until then it is a zombie.
func StartReady(t *testing.T, behaviour string) (cmd *exec.Cmd, wait func() string) {
	t.Helper()
	cmd = Command(behaviour, "")
	out, err := cmd.StdoutPipe()
	Must(t, err)
	Must(t, cmd.Start())
	wait = func() string {
		_ = cmd.Wait() // its state says how
		return cmd.ProcessState.String()
	}
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			wait()
		}
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("the process said %q, %v; want that it is ready", line, err)
	}
	return cmd, wait
}

// Linger says that the process is ready and waits to be ended.
func Linger() {
	_, _ = os.Stdout.WriteString("ready\n")
	<-time.After(life)
}

// Programs is a directory with the test's program under other names.
func Programs(t *testing.T, names ...string) string {
	t.Helper()
	self, err := os.Executable()
	Must(t, err)
	dir := t.TempDir()
	for _, name := range names {
		Must(t, os.Symlink(self, filepath.Join(dir, name)))
	}
	return dir
}
