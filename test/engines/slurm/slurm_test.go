package slurm_test

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/bridge/engine"
	"koordinator.sh/koord/bridge/slurm"
	realslurm "koordinator.sh/koord/test/engines/slurm"
	"koordinator.sh/koord/test/eventually"
)

var update = flag.Bool("update", false, "record what Slurm's programs print, which the tests of bridge/slurm read")

// cpus is a number of CPUs with their memory.
func cpus(count int64) engine.Amount {
	return engine.Amount{MilliCPU: 1000 * count, Memory: realslurm.MiBPerCPU << 20 * count}
}

func connect(c *realslurm.Cluster) *slurm.Engine {
	return slurm.NewEngine(slurm.Options{Conf: c.Conf, PartitionPrefix: slurm.DefaultPartitionPrefix, Timeout: 5 * time.Second})
}

func observe(t *testing.T, e *slurm.Engine) engine.State {
	t.Helper()
	state, err := e.Observe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return state
}

func resize(t *testing.T, e *slurm.Engine, node string, to engine.Amount) {
	t.Helper()
	if err := e.SetCapacity(t.Context(), []engine.Change{{Key: node, Capacity: to, Deadline: time.Minute}}); err != nil {
		t.Fatal(err)
	}
	if got := observe(t, e).Nodes[node].Capacity; got != to {
		t.Errorf("the capacity of %s is %+v, want %+v", node, got, to)
	}
}

func awaitRunning(t *testing.T, c *realslurm.Cluster, jobs ...string) {
	t.Helper()
	for _, job := range jobs {
		eventually.True(t, "job "+job+" runs", func() bool { return c.State(t, job) == "RUNNING" })
	}
}

// TestTheRealSlurm: a capacity lets jobs start and holds others back, in CPUs and in memory; what is beyond it runs on until it is ended,
// the youngest first.
func TestTheRealSlurm(t *testing.T) {
	c := realslurm.Start(t, 2)
	e := connect(c)
	idle := engine.Node{Most: cpus(realslurm.NodeCPUs)}
	want := engine.State{Grain: cpus(1), Paired: true, Nodes: map[string]engine.Node{"n1": idle, "n2": idle}}
	if diff := cmp.Diff(want, observe(t, e)); diff != "" {
		t.Errorf("Observe() of an idle cluster (-want +got):\n%s", diff)
	}
	old := c.Submit(t, 1)
	memory := c.Submit(t, 1, "--mem=3000") // as much as three CPUs have
	eventually.True(t, "the queue is seen", func() bool { return observe(t, e).Waits })
	resize(t, e, "n1", cpus(4))
	awaitRunning(t, c, old, memory)
	eventually.True(t, "what is allocated is seen", func() bool { return observe(t, e).Nodes["n1"].Allocated == cpus(4) })
	waits := c.Submit(t, 1, "--partition=batch-n1")
	eventually.True(t, "the queue is seen", func() bool { return observe(t, e).Waits })
	record(t, c)
	if got := c.State(t, waits); got != "PENDING" {
		t.Errorf("a fifth CPU of four is %s", got)
	}

	resize(t, e, "n1", cpus(2))
	resize(t, e, "n2", cpus(0))
	if got := observe(t, e).Nodes["n1"].Allocated; got != cpus(4) {
		t.Errorf("jobs beyond the capacity have %+v; they run on", got)
	}
	ended, err := e.Kill(t.Context(), "n1", cpus(2))
	if diff := cmp.Diff([]string{"job " + memory + " (requeued)"}, ended); diff != "" || err != nil {
		t.Errorf("Kill() (-want +got):\n%s, %v", diff, err)
	}
	eventually.True(t, "the job leaves", func() bool { return observe(t, e).Nodes["n1"].Allocated != cpus(4) })
	if got := c.Run(t, "scontrol", "show", "job", memory); !strings.Contains(got, "ended by koord-bridge: node n1 has fewer batch resources") {
		t.Errorf("the job does not say why it was ended:\n%s", got)
	}
	if got := c.State(t, old); got != "RUNNING" {
		t.Errorf("the other job is %s", got)
	}
	if ended, err := e.Kill(t.Context(), "none; scancel", cpus(1)); len(ended) > 0 || err != nil {
		t.Errorf("Kill() on a node that is none = %v, %v", ended, err)
	}
	c.Run(t, "scontrol", "update", "NodeName=n1", "State=DRAIN", "Reason=State=IDLE CPUTot=99 ")
	if got := observe(t, e).Nodes["n1"]; !got.Closed || got.Most != cpus(realslurm.NodeCPUs) {
		t.Errorf("a node that is drained is %+v", got)
	}
}

// TestJobsThatCannotBeRequeuedAreCancelled, because Slurm cannot start them again.
func TestJobsThatCannotBeRequeuedAreCancelled(t *testing.T) {
	c := realslurm.Start(t, 1)
	e := connect(c)
	observe(t, e)
	resize(t, e, "n1", cpus(2))
	once := c.Submit(t, 2, "--no-requeue")
	awaitRunning(t, c, once)
	ended, err := e.Kill(t.Context(), "n1", cpus(1))
	if diff := cmp.Diff([]string{"job " + once + " (cancelled)"}, ended); diff != "" || err != nil {
		t.Errorf("Kill() (-want +got):\n%s, %v", diff, err)
	}
	if ended, err := e.Kill(t.Context(), "n1", cpus(1)); len(ended) > 0 || err != nil {
		t.Errorf("Kill() of what is ending already = %v, %v", ended, err)
	}
}

// TestAnotherPartitionThatIsUp can give away all of the node, so that all of it is the capacity, with a warning.
func TestAnotherPartitionThatIsUp(t *testing.T) {
	c := realslurm.Start(t, 1, "PartitionName=own Nodes=n1 Default=YES State=UP")
	e := connect(c)
	observe(t, e)
	if got := observe(t, e).Nodes["n1"]; got.Capacity != cpus(realslurm.NodeCPUs) || got.Warning != "Slurm gives the node to jobs by partition own, too" {
		t.Errorf("the node is %+v", got)
	}
	c.Run(t, "scontrol", "update", "PartitionName=own", "State=DOWN")
	if got := observe(t, e).Nodes["n1"]; got.Capacity != (engine.Amount{}) || got.Warning != "" {
		t.Errorf("the node is %+v, with the partition down", got)
	}
}

// TestASlurmctldThatEnds is an error until another is there, which has the capacity of slurm.conf: nothing.
func TestASlurmctldThatEnds(t *testing.T) {
	c := realslurm.Start(t, 1)
	e := connect(c)
	observe(t, e)
	resize(t, e, "n1", cpus(2))
	job := c.Submit(t, 2)
	awaitRunning(t, c, job)
	c.StopController(t)
	if _, err := e.Observe(t.Context()); err == nil {
		t.Error("Observe() works without slurmctld")
	}
	c.StartController(t)
	eventually.True(t, "the job that runs is known", func() bool { return observe(t, e).Nodes["n1"].Allocated == cpus(2) })
	if got := observe(t, e).Nodes["n1"].Capacity; got != (engine.Amount{}) {
		t.Errorf("the capacity is %+v after slurmctld was started again", got)
	}
	resize(t, e, "n1", cpus(2))
	if got := c.State(t, job); got != "RUNNING" {
		t.Errorf("the job is %s", got)
	}
}

// kernel is which one the test runs on, which nothing reads.
var kernel = regexp.MustCompile(`OS=Linux \S+ #1`)

// record writes what the tests of bridge/slurm read.
func record(t *testing.T, c *realslurm.Cluster) {
	t.Helper()
	if !*update {
		return
	}
	for file, command := range map[string][]string{
		"nodes.txt":      {"scontrol", "--oneliner", "show", "node"},
		"partitions.txt": {"scontrol", "--oneliner", "show", "partition"},
		"pending.txt":    {"squeue", "--noheader", "--all", "--states=PENDING", "--format=%P|%r"},
		"running.txt":    {"squeue", "--noheader", "--all", "--states=RUNNING", "--format=%A|%t|%C|%D|%M"},
	} {
		content := kernel.ReplaceAllString(c.Run(t, command[0], command[1:]...), "OS=Linux 6.1.0 #1") + "\n"
		if err := os.WriteFile("../../../bridge/slurm/testdata/"+file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
