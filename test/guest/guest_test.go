package guest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"koordinator.sh/koord/test/livecgroup"
)

// kernelVariable names the environment variable with the image of the guest's kernel; `make guest-test` sets it.
const kernelVariable = "KOORD_GUEST_KERNEL"

// patience is how long a guest may take in all, on a machine that has much else to do; it takes half a minute where nothing else
// runs. In the guest a program ends a little earlier, and says what it was at.
const patience = 6 * time.Minute

// suite is the tests of one package that run in the guest.
type suite struct {
	folder, tests string
	// skipped are those that the guest has not got what they need for. No other may be skipped there.
	skipped []string
}

var suites = []suite{
	{folder: "agent/host/kernelfs", tests: "^TestTheKernel"},
	{folder: "test/livecgroup", tests: "."},
}

func TestTheAgentOnCgroupsOfVersion2(t *testing.T) {
	machine := newMachine(t)
	for _, s := range suites {
		s.add(t, machine)
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), patience, errors.New("it took longer than "+patience.String()))
	defer cancel()
	var console bytes.Buffer
	out := io.Writer(&console)
	if testing.Verbose() {
		out = io.MultiWriter(&console, os.Stdout)
	}
	err := machine.Run(ctx, out)
	report := ParseConsole(console.String(), len(suites))
	if err != nil || !report.Finished {
		t.Errorf("the guest did not come to its end: %v %s; its console:\n%s", err, report.Broken, console.String())
	}
	for i, s := range suites {
		t.Run(s.folder, func(t *testing.T) { s.check(t, report.Programs[i]) })
	}
}

// check fails for a program that failed, and for one that tested nothing.
func (s suite) check(t *testing.T, result Result) {
	if result.Ended != Passed {
		t.Errorf("%s; it printed:\n%s", result.Ended, result.Output)
	}
	passed := 0
	for name, how := range result.Tests {
		switch {
		case how == "PASS":
			passed++
		case how == "SKIP" && !slices.Contains(s.skipped, name):
			t.Errorf("%s was skipped in the guest; it printed:\n%s", name, result.Output)
		}
	}
	if passed == 0 {
		t.Errorf("no test ran; the program printed:\n%s", result.Output)
	}
}

// TestAGuestThatHangsIsKilled gives one no time to start.
func TestAGuestThatHangsIsKilled(t *testing.T) {
	machine := newMachine(t)
	ctx, cancel := context.WithTimeoutCause(t.Context(), 500*time.Millisecond, errHangs)
	defer cancel()
	var console bytes.Buffer
	if err := machine.Run(ctx, &console); !errors.Is(err, errHangs) {
		t.Errorf("error %v, want that it hangs", err)
	}
	if report := ParseConsole(console.String(), 0); report.Finished {
		t.Errorf("the guest came to its end:\n%s", console.String())
	}
}

var errHangs = errors.New("it hangs")

// newMachine returns a guest with nothing to run, and skips the test where there is no kernel for it.
func newMachine(t *testing.T) *Machine {
	t.Helper()
	kernel := os.Getenv(kernelVariable)
	if kernel == "" {
		t.Skip("no kernel for a guest (run: make guest-test)")
	}
	if _, err := exec.LookPath(emulator); err != nil {
		t.Fatalf("find the emulator: %v (install package qemu-system-x86)", err)
	}
	directory := t.TempDir()
	machine := &Machine{Kernel: kernel, Init: filepath.Join(directory, "init"), Directory: directory, Programs: map[string]string{}}
	compile(t, "build", "-o", machine.Init, "./test/guest/init")
	return machine
}

// add compiles the suite, to run without any file but itself, and has the guest run it.
func (s suite) add(t *testing.T, machine *Machine) {
	t.Helper()
	name := path.Base(s.folder) + ".test"
	machine.Programs[name] = filepath.Join(machine.Directory, name)
	compile(t, "test", "-c", "-o", machine.Programs[name], "./"+s.folder)
	machine.Plan.Programs = append(machine.Plan.Programs, Program{
		Path: path.Join(programs, name), Arguments: []string{"-test.v", "-test.run=" + s.tests, "-test.timeout=290s"}, Seconds: 300,
		Environment: []string{
			livecgroup.DiskVariable + "=" + Disk, livecgroup.TopologyVariable + "=" + Topology, livecgroup.WorkerVariable + "=/init",
		},
	})
}

func compile(t *testing.T, command string, arguments ...string) {
	t.Helper()
	begun := time.Now()
	run := exec.CommandContext(t.Context(), "go", append([]string{command, "-ldflags=-s -w"}, arguments...)...)
	run.Dir = "../.."
	run.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64")
	if output, err := run.CombinedOutput(); err != nil {
		t.Fatalf("go %s %v: %v\n%s", command, arguments, err, output)
	}
	t.Logf("go %s %v took %v", command, arguments, time.Since(begun).Round(time.Second))
}
