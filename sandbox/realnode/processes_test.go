package realnode

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// TestPodsAreAskedThenKilled ends a process that minds being asked, and one that does not.
func TestPodsAreAskedThenKilled(t *testing.T) {
	for name, tc := range map[string]struct {
		script string
		grace  time.Duration
		want   string
	}{
		"asked":  {script: "echo ready; exec sleep 60", grace: time.Minute, want: "signal: terminated"},
		"killed": {script: "trap '' TERM; echo ready; while :; do sleep 60; done", grace: 50 * time.Millisecond, want: "signal: killed"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command("/bin/sh", "-c", tc.script)
			out, err := cmd.StdoutPipe()
			must(t, err)
			must(t, cmd.Start())
			t.Cleanup(func() { _ = cmd.Process.Kill() }) // it has ended
			_, err = out.Read(make([]byte, 8))
			must(t, err)
			m, n := newMachine(t), newNode(t)
			must(t, os.MkdirAll(filepath.Join(m.Root, "proc"), 0o755))
			m.hierarchies(t, "cpu")
			procs := filepath.Join("sys/fs/cgroup/cpu", n.CgroupParent(), "cgroup.procs")
			m.write(t, procs, strconv.Itoa(cmd.Process.Pid)+"\n")
			ended := make(chan error, 1)
			go func() {
				err := cmd.Wait()
				ended <- err
				_ = os.Remove(filepath.Join(m.Root, procs)) // the kernel's part
			}()
			must(t, m.endPods(t.Context(), n, tc.grace))
			if err := <-ended; err == nil || err.Error() != tc.want {
				t.Errorf("the process ended with %v; want %q", err, tc.want)
			}
		})
	}
}
