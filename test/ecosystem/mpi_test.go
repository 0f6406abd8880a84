package ecosystem

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"koordinator.sh/koord/test/sandboxtest"
)

// Commands of the pods of a JobSet: all run what mpiexec sends to their host name, and the leader runs mpiexec.
const (
	mpiRank   = `while ! test -e "$MAIL/$HOSTNAME"; do sleep 0.1; done; exec sh "$MAIL/$HOSTNAME"`
	mpiLeader = `sh -c '` + mpiRank + `' & mpiexec.hydra -launcher ssh -launcher-exec "$SSH" -hosts "$HOSTS" -n 5 "$PROGRAM"`
)

// runsMPI runs MPICH in the pods of JobSets: without a gang, the ranks that are bound wait for those that are not.
func (r *rig) runsMPI(t *testing.T) {
	installed(t, "mpi", "mpich, libmpich-dev and gcc", "mpicc.mpich", "/usr/bin/mpiexec.hydra")
	namespace, program := r.space(t, "simulation"), compileMPI(t)
	c := r.runContainers(t, namespace, "")
	first := r.createSet(t, namespace, "first", true, mpiEdit(t, "first", program, "exec sleep infinity", "exec sleep infinity"))
	r.awaitRanks(t, namespace, "first", ranks)

	part := r.createSet(t, namespace, "part", false, mpiEdit(t, "part", program, mpiLeader, mpiRank))
	t.Run("without a gang, ranks hold their nodes and compute nothing", func(t *testing.T) {
		r.awaitPart(t, namespace, "part")
	})
	whole := r.createSet(t, namespace, "whole", true, mpiEdit(t, "whole", program, mpiLeader, mpiRank))
	t.Run("with a gang, no rank holds a node while others lack one", func(t *testing.T) {
		r.awaitRefused(t, namespace, "whole")
		r.unfinished(t, namespace, "part")
		r.remove(t, part)
	})
	t.Run("with a gang, all ranks run once there is room", func(t *testing.T) {
		r.remove(t, first)
		sandboxtest.Eventually(t, patience, func() error { return r.computed(t, c, namespace, "whole") })
	})
	r.remove(t, whole)
}

// compileMPI compiles the program of the ranks.
func compileMPI(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "ring")
	if out, err := exec.CommandContext(t.Context(), "mpicc.mpich", "-o", program, "testdata/ring.c").CombinedOutput(); err != nil {
		t.Fatalf("compile testdata/ring.c: %v\n%s", err, out)
	}
	return program
}

// mpiEdit sets the commands of the leader and of the workers of a JobSet.
func mpiEdit(t *testing.T, name, program, leader, worker string) func(*unstructured.Unstructured) {
	t.Helper()
	ssh, err := filepath.Abs("testdata/mpi_ssh.sh")
	if err != nil {
		t.Fatal(err)
	}
	var hosts []string
	for _, host := range []string{"leader-0-0", "worker-0-0", "worker-0-1", "worker-1-0", "worker-1-1"} {
		hosts = append(hosts, name+"-"+host)
	}
	var env []any
	for variable, value := range map[string]string{"MAIL": t.TempDir(), "SSH": ssh, "HOSTS": strings.Join(hosts, ","), "PROGRAM": program} {
		env = append(env, map[string]any{"name": variable, "value": value})
	}
	return func(object *unstructured.Unstructured) {
		for i, job := range object.Object["spec"].(map[string]any)["replicatedJobs"].([]any) {
			containers := []any{map[string]any{
				"name": "main", "image": "mpich", "command": []any{"sh", "-c", []string{leader, worker}[i]}, "env": env,
				"resources": map[string]any{"requests": map[string]any{"cpu": "100m", "memory": "64Mi"}},
			}}
			if err := unstructured.SetNestedSlice(job.(map[string]any), containers, "template", "spec", "template", "spec", "containers"); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// unfinished wants no pod of a JobSet to have ended, many times later than one that has all of its ranks takes.
func (r *rig) unfinished(t *testing.T, namespace, name string) {
	t.Helper()
	wait(t.Context(), 5*time.Second)
	pods, err := r.ranksOf(t, namespace, name)
	if err != nil {
		t.Fatal(err)
	}
	for i := range pods {
		t.Logf("pod %s of host name %s is %s", pods[i].Name, pods[i].Spec.Hostname, pods[i].Status.Phase)
		if phase := pods[i].Status.Phase; phase != corev1.PodRunning && phase != corev1.PodPending {
			t.Errorf("pod %s is %s, want it to wait for the others", pods[i].Name, phase)
		}
	}
}

// computed wants all pods to have succeeded, and the leader to have printed the result.
func (r *rig) computed(t *testing.T, c *containers, namespace, name string) error {
	t.Helper()
	pods, err := r.ranksOf(t, namespace, name)
	if err != nil {
		return err
	}
	results := 0
	for i := range pods {
		if phase := pods[i].Status.Phase; phase != corev1.PodSucceeded {
			return fmt.Errorf("pod %s is %s", pods[i].Name, phase)
		}
		log, err := os.ReadFile(filepath.Join(c.home, pods[i].Name, "log"))
		if err != nil {
			return err
		}
		results += strings.Count(string(log), "the ranks of 5 processes add up to 10")
	}
	if len(pods) != ranks || results != 1 {
		return fmt.Errorf("%d pods, the result was printed %d times; want %d and once", len(pods), results, ranks)
	}
	return nil
}
