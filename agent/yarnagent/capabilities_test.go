package yarnagent

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/agent/host/process"
)

// asThePod is set in the environment of the process that TestEndAsThePod runs in, with the capabilities of the agent's pod.
const asThePod = "KOORD_TEST_AS_THE_POD"

// TestProcessesOfOtherUsersAreFoundAndEnded with the capabilities that the agent has in its pod: a NodeManager is not root there.
func TestProcessesOfOtherUsersAreFoundAndEnded(t *testing.T) {
	if _, err := exec.LookPath("setpriv"); err != nil || os.Geteuid() != 0 {
		t.Skipf("needs root and setpriv: %v", err)
	}
	r := newRig(t, 2)
	task := exec.CommandContext(t.Context(), "sleep", "300")
	task.Env, task.SysProcAttr = append(os.Environ(), variable+first), &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if err := task.Start(); err != nil {
		t.Fatal(err)
	}
	found, denied, err := r.process.of(map[string]bool{first: true})
	if err != nil || len(found[first]) != 1 {
		t.Fatalf("found %v, %v, %v", found, denied, err)
	}
	bounds := "-all,+" + strings.ToLower(strings.Join(Capabilities, ",+"))
	agent := exec.CommandContext(t.Context(), "setpriv", "--bounding-set="+bounds, "--inh-caps=-all", os.Args[0], "-test.run=^TestEndAsThePod$", "-test.v")
	agent.Env = append(os.Environ(), asThePod+"=yes")
	output, err := agent.CombinedOutput()
	_ = task.Process.Kill() // it has ended, if all is well
	_ = task.Wait()         // with the signal
	if status := task.ProcessState.Sys().(syscall.WaitStatus); err != nil || status.Signal() != syscall.SIGTERM {
		t.Errorf("the process ended with %s, and the agent with %v:\n%s", status.Signal(), err, output)
	}
}

func TestEndAsThePod(t *testing.T) {
	if os.Getenv(asThePod) == "" {
		t.Skip("is run by another test")
	}
	proc, err := files.NewReal("/proc")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = proc.Close() }) // it was only read
	found, denied, err := (&processes{proc: proc}).of(map[string]bool{first: true})
	if err != nil || len(found[first]) != 1 {
		t.Fatalf("found %v, %v, %v; want one process", found, denied, err)
	}
	for _, pid := range found[first] {
		if err := process.Signal(pid, syscall.SIGTERM, func() bool { return true }); err != nil {
			t.Error(fmt.Errorf("end process %s: %w", strconv.Itoa(pid), err))
		}
	}
}
