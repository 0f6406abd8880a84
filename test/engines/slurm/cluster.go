// Package slurm starts a real Slurm cluster for tests: a slurmctld and several slurmd, each a process on this machine.
package slurm

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"koordinator.sh/koord/bridge/slurm"
	"koordinator.sh/koord/test/engines"
	"koordinator.sh/koord/test/eventually"
	"koordinator.sh/koord/test/freeport"
)

// NodeCPUs and NodeMiB are the size of each node, MiBPerCPU is what each of its CPUs has of its memory.
const (
	NodeCPUs  = 8
	NodeMiB   = 16000
	MiBPerCPU = 1000
)

// Cluster is a Slurm cluster that runs until the end of its test.
type Cluster struct {
	// Conf is the path of slurm.conf.
	Conf  string
	conf  string
	logs  string
	state string
	// controller is the slurmctld that runs.
	controller *exec.Cmd
	// cancelled is done when the jobs are, which outlive daemons that are killed.
	cancelled sync.Once
}

// Start starts a cluster with nodes n1, n2 and so on, each with a partition of its own that may use nothing of it, and a partition of all in
// which jobs wait, as docs/third-party-schedulers.md says. Further lines end slurm.conf.
func Start(t testing.TB, nodes int, lines ...string) *Cluster {
	t.Helper()
	engines.Require(t, "slurmctld", "slurmd", "scontrol", "squeue", "sbatch", "scancel")
	who, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	c := &Cluster{Conf: filepath.Join(dir, "slurm.conf"), logs: filepath.Join(dir, "slurmctld.log"), state: filepath.Join(dir, "state")}
	if err := os.Mkdir(c.state, 0o755); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	fmt.Fprintf(&text, `ClusterName=test
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=%d
SlurmUser=%[2]s
SlurmdUser=%[2]s
AuthType=auth/none
CredType=cred/none
MpiDefault=none
ProctrackType=proctrack/pgid
TaskPlugin=task/none
ReturnToService=2
StateSaveLocation=%[3]s/state
SlurmdSpoolDir=%[3]s/spool-%%n
SlurmctldPidFile=%[3]s/slurmctld.pid
SlurmdPidFile=%[3]s/slurmd-%%n.pid
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1,bf_interval=1
JobSubmitPlugins=all_partitions
EnforcePartLimits=NO
KillWait=1
DefMemPerCPU=%[4]d
MaxMemPerCPU=%[4]d
`, freeport.Next(t), who.Username, dir, MiBPerCPU)
	for i := range nodes {
		fmt.Fprintf(&text, "NodeName=n%[1]d NodeHostname=localhost NodeAddr=127.0.0.1 Port=%[2]d CPUs=%[3]d RealMemory=%[4]d\n", i+1, freeport.Next(t), NodeCPUs, NodeMiB)
		fmt.Fprintf(&text, "PartitionName=%sn%[2]d Nodes=n%[2]d MaxCPUsPerNode=0 State=UP\n", slurm.DefaultPartitionPrefix, i+1)
	}
	fmt.Fprintf(&text, "PartitionName=batch Nodes=n[1-%d] Default=YES State=DOWN\n", nodes)
	text.WriteString(strings.Join(lines, "\n") + "\n")
	c.conf = text.String()
	if err := os.WriteFile(c.Conf, []byte(c.conf), 0o600); err != nil {
		t.Fatal(err)
	}
	c.StartController(t)
	for i := range nodes {
		name := fmt.Sprintf("n%d", i+1)
		c.process(t, filepath.Join(dir, "slurmd-"+name+".log"), "slurmd", "-D", "-N", name)
	}
	c.cancelAtEnd(t)
	eventually.True(t, "all nodes are idle", func() bool {
		out, err := c.try("sinfo", "--noheader", "--partition=batch", "--states=idle", "--responding", "--format=%D")
		return err == nil && out == strconv.Itoa(nodes)
	})
	return c
}

// process runs a daemon until the end of the test.
func (c *Cluster) process(t testing.TB, log, name string, args ...string) *exec.Cmd {
	t.Helper()
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(context.WithoutCancel(t.Context()), name, args...)
	command.Env = append(os.Environ(), "SLURM_CONF="+c.Conf)
	command.Stdout, command.Stderr = out, out
	command.WaitDelay = time.Second
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill() // it may have ended
		_ = command.Wait()         // with the signal
		_ = out.Close()
		if content, err := os.ReadFile(log); t.Failed() && err == nil {
			t.Logf("%s:\n%s", filepath.Base(log), content[max(len(content)-2000, 0):])
		}
	})
	return command
}

// StartController starts slurmctld, which knows the jobs of the one before.
func (c *Cluster) StartController(t testing.TB) {
	t.Helper()
	c.controller = c.process(t, c.logs, "slurmctld", "-D")
	c.cancelAtEnd(t)
	eventually.True(t, "slurmctld answers", func() bool {
		out, err := c.try("scontrol", "ping")
		return err == nil && strings.Contains(out, "is UP")
	})
}

// StopController ends slurmctld, which saves what it knows; killed, it would lose the jobs of the last seconds.
func (c *Cluster) StopController(t testing.TB) {
	t.Helper()
	if err := c.controller.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = c.controller.Wait() // with the signal
}

// Run runs one of Slurm's programs and returns what it printed.
func (c *Cluster) Run(t testing.TB, name string, args ...string) string {
	t.Helper()
	out, err := c.try(name, args...)
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return out
}

func (c *Cluster) try(name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	command := exec.CommandContext(ctx, name, args...)
	command.Env = append(os.Environ(), "SLURM_CONF="+c.Conf)
	var out bytes.Buffer
	command.Stdout, command.Stderr = &out, &out
	err := command.Run()
	return strings.TrimSpace(out.String()), err
}

// Submit submits a job of a number of CPUs that sleeps for long, and returns its ID.
func (c *Cluster) Submit(t testing.TB, cpus int, flags ...string) string {
	t.Helper()
	args := append([]string{"--parsable", "--output=/dev/null", "--ntasks=1", "--cpus-per-task=" + strconv.Itoa(cpus)}, flags...)
	out := c.Run(t, "sbatch", append(args, "--wrap=sleep 600")...)
	return out[strings.LastIndex(out, "\n")+1:]
}

// cancelAtEnd has all jobs end at the end of the test, before the daemons that were started until now.
func (c *Cluster) cancelAtEnd(t testing.TB) {
	t.Helper()
	t.Cleanup(func() { c.cancelled.Do(func() { c.cancelAll(t) }) })
}

// cancelAll ends all jobs.
func (c *Cluster) cancelAll(t testing.TB) {
	t.Helper()
	eventually.True(t, "all jobs have ended", func() bool {
		out, err := c.try("squeue", "--noheader", "--all", "--format=%A")
		if jobs := strings.Fields(out); err == nil && len(jobs) > 0 {
			_, err = c.try("scancel", jobs...)
		}
		return err == nil && out == ""
	})
}

// State is the state of a job.
func (c *Cluster) State(t testing.TB, job string) string {
	t.Helper()
	return c.Run(t, "squeue", "--noheader", "--all", "--states=all", "--jobs="+job, "--format=%T")
}
