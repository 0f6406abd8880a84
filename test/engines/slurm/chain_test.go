package slurm_test

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/bridge/engine"
	realslurm "koordinator.sh/koord/test/engines/slurm"
	"koordinator.sh/koord/test/sandboxtest"
)

const (
	patience = 2 * time.Minute
	deadline = 4 * time.Second
	simNode  = "sim-0001"
)

// chain is a sandbox with koord-manager, a Slurm cluster, and koord-bridge between them.
type chain struct {
	client kubernetes.Interface
	slurm  *realslurm.Cluster
}

func startChain(t *testing.T) *chain {
	t.Helper()
	c := &chain{slurm: realslurm.Start(t, 1)}
	sandbox, err := sandboxtest.New("slurm", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sandbox.Down(context.Background()); err != nil {
			t.Error(err)
		}
	})
	if err := sandbox.Up(t.Context(), "--nodes", "2"); err != nil {
		t.Fatal(err)
	}
	if c.client, _, err = sandbox.Clients(); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	bridge := exec.CommandContext(context.WithoutCancel(t.Context()), sandbox.Program("koord-bridge"),
		"--kubeconfig="+filepath.Join(sandbox.Directory(), "kubeconfig"), "--slurm", "--slurm-conf="+c.slurm.Conf, "--yarn-conf-dir=",
		"--overcommit-timeout="+deadline.String(), "--bind-address=127.0.0.1", "--secure-port=0", "--leader-elect=false", "-v=2")
	bridge.Stdout, bridge.Stderr = &log, &log
	if err := bridge.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = bridge.Process.Kill() // it may have ended
		_ = bridge.Wait()         // with the signal
		if t.Failed() {
			t.Logf("koord-bridge:\n%s", log.Bytes()[max(log.Len()-3000, 0):])
		}
	})
	return c
}

// leave has services leave a node a percentage of its resources.
func (c *chain) leave(t *testing.T, percent int) {
	t.Helper()
	c.annotate(t, extension.AnnotationNodeColocationStrategy,
		fmt.Sprintf(`{"cpuReclaimThresholdPercent":%[1]d,"memoryReclaimThresholdPercent":%[1]d}`, percent))
}

func (c *chain) annotate(t *testing.T, key, value string) {
	t.Helper()
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, key, value)
	if _, err := c.client.CoreV1().Nodes().Patch(t.Context(), simNode, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}

// taken is what Kubernetes counts as taken by Slurm, and offered what the node offers to pods.
func (c *chain) taken(t *testing.T) (taken, offered engine.Amount) {
	t.Helper()
	node, err := c.client.CoreV1().Nodes().Get(t.Context(), simNode, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	batch := func(list corev1.ResourceList) engine.Amount {
		cpu, memory := list[extension.BatchCPU], list[extension.BatchMemory]
		return engine.Amount{MilliCPU: cpu.Value(), Memory: memory.Value()}
	}
	allocations, err := extension.GetThirdPartyAllocations(node.Annotations)
	if err != nil {
		t.Fatal(err)
	}
	if allocations != nil {
		for _, one := range allocations.Allocations {
			if one.Name == extension.ThirdPartySlurm {
				taken = batch(one.Resources)
			}
		}
	}
	return taken, batch(node.Status.Allocatable)
}

// TestSlurmRunsOnWhatServicesLeave: jobs start on batch resources, which Kubernetes counts as taken; when services take them back, jobs
// have the time of the deadline, and are then put back into the queue.
func TestSlurmRunsOnWhatServicesLeave(t *testing.T) {
	c := startChain(t)
	c.leave(t, 150)
	c.annotate(t, extension.AnnotationSlurmNode, "n1")
	job := c.slurm.Submit(t, 6)
	awaitRunning(t, c.slurm, job)
	sandboxtest.Eventually(t, patience, func() error {
		if taken, _ := c.taken(t); taken.MilliCPU < cpus(6).MilliCPU || taken.Memory < cpus(6).Memory || taken.MilliCPU > cpus(realslurm.NodeCPUs).MilliCPU {
			return fmt.Errorf("Kubernetes counts %+v as taken by a job of 6 CPUs", taken)
		}
		return nil
	})
	c.leave(t, 1)
	sandboxtest.Eventually(t, patience, func() error {
		if _, offered := c.taken(t); offered != (engine.Amount{}) {
			return fmt.Errorf("the node offers %+v", offered)
		}
		return nil
	})
	began := time.Now()
	sandboxtest.Eventually(t, patience, func() error {
		if state := c.slurm.State(t, job); state == "RUNNING" {
			return fmt.Errorf("the job is %s", state)
		}
		return nil
	})
	if ran := time.Since(began); ran < deadline-2*time.Second {
		t.Errorf("the job was ended after %v, before the deadline of %v", ran, deadline)
	}
	sandboxtest.Eventually(t, patience, func() error {
		if taken, _ := c.taken(t); taken != (engine.Amount{}) {
			return fmt.Errorf("Kubernetes counts %+v as taken", taken)
		}
		return nil
	})
	c.leave(t, 150)
	awaitRunning(t, c.slurm, c.slurm.Submit(t, 2))
}
