package livecgroup

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"koordinator.sh/koord/test/livecgroup/work"
)

// Names of environment variables that say what is known of the machine. None of them needs to be set.
const (
	// WorkerVariable is for a program that works when it is asked to, see package work. Without one the test program itself is
	// started for that, which takes longer.
	WorkerVariable = "KOORD_TEST_WORKER"
	// DiskVariable is for a disk that tests may read and bound, and that nothing else uses.
	DiskVariable = "KOORD_TEST_DISK"
	// TopologyVariable is for what the machine is built of: "cpus=4 cores=2 sockets=1 nodes=1".
	TopologyVariable = "KOORD_TEST_TOPOLOGY"
)

// Main runs the tests of a program, whose TestMain it is. It makes the program one that can be started to work.
func Main(m *testing.M) {
	if work.Asked() {
		work.Main()
	}
	os.Exit(m.Run())
}

// Process works in a cgroup until the test ends.
type Process struct {
	PID    int
	output *bufio.Reader
	t      testing.TB
}

// Start starts a process that works in a cgroup. All that it does for its work is accounted there.
func (t *Tree) Start(path string, what work.Work) *Process {
	t.t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.t.Fatal(err)
	}
	command := exec.Command(cmp.Or(os.Getenv(WorkerVariable), self))
	command.Env = append(os.Environ(), work.Variable+"="+string(what))
	command.Stderr = os.Stderr
	input, inputErr := command.StdinPipe()
	output, outputErr := command.StdoutPipe()
	if inputErr != nil || outputErr != nil {
		t.t.Fatal(inputErr, outputErr)
	}
	if err := command.Start(); err != nil {
		t.t.Fatal(err)
	}
	t.t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait() // it was killed
	})
	t.Enter(path, command.Process.Pid)
	if _, err := io.WriteString(input, "\n"); err != nil {
		t.t.Fatal(err)
	}
	return &Process{PID: command.Process.Pid, output: bufio.NewReader(output), t: t.t}
}

// AwaitEnd waits until the process has ended, for any reason.
func (p *Process) AwaitEnd() {
	p.t.Helper()
	if _, err := io.Copy(io.Discard, p.output); err != nil && !errors.Is(err, os.ErrClosed) {
		p.t.Fatal(err)
	}
}

// AwaitDone waits until the work is done, or has begun where it has no end, and returns how long that took.
func (p *Process) AwaitDone() time.Duration {
	p.t.Helper()
	begun := time.Now()
	if line, err := p.output.ReadString('\n'); err != nil {
		p.t.Fatalf("process %d said %q, and ended before its work was done: %v", p.PID, line, err)
	}
	return time.Since(begun)
}

// AllowedCPUs is the list of CPUs that the kernel lets the process run on.
func (p *Process) AllowedCPUs() string {
	p.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID))
	if err != nil {
		p.t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if list, found := strings.CutPrefix(line, "Cpus_allowed_list:"); found {
			return strings.TrimSpace(list)
		}
	}
	p.t.Fatalf("process %d shows no CPUs", p.PID)
	return ""
}
