package realnode

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/remotecommand"
	utilexec "k8s.io/client-go/util/exec"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/sandbox/component"
	"koordinator.sh/koord/sandbox/realnode"
	"koordinator.sh/koord/test/sandboxtest"
)

// everything that a node may leave behind, but for what tests check one by one.
var everything = []string{"processes", "cgroups", "interfaces", "mounts", "directories", "kernel settings"}

// TestLifeOfARealNode goes through everything with one sandbox, because starting one takes most of the time.
func TestLifeOfARealNode(t *testing.T) {
	r := newRig(t)
	before := r.look(t)
	t.Cleanup(func() { r.wantSame(t, before, everything...) }) // after the sandbox is down
	r.start(t, "--nodes", "2", "--scenario", "none")
	r.wantSame(t, before, "mounts", "kernel settings")

	// Each needs what the one before it has made.
	_ = t.Run("the node is the machine", r.testNode) &&
		t.Run("pods run", r.testPods) &&
		t.Run("the agent measures pods", r.testMeasured) &&
		t.Run("the agent holds best-effort pods back", r.testProtected) &&
		t.Run("a Deployment is migrated within its budget", r.testMigrated) &&
		t.Run("a container that is started again has the values of the first", r.testRestarted) &&
		t.Run("killed processes come back, and pods do not notice", r.testKilled) &&
		t.Run("what a killed supervisor leaves is no obstacle to the next start", r.testSupervisorKilled)
	t.Run("a sandbox that is down has left nothing", func(t *testing.T) {
		r.stop(t)
		r.wantSame(t, before, everything...)
	})
	t.Run("a killed supervisor's sandbox that is taken down has left nothing", func(t *testing.T) {
		r.up(t.Context(), t)
		r.awaitReady(t, "burner")
		r.killSupervisor(t)
		r.stop(t)
		r.wantSame(t, before, everything...)
	})
}

func (r *rig) testNode(t *testing.T) {
	node, err := r.client.CoreV1().Nodes().Get(t.Context(), r.node, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := node.Status.NodeInfo.ContainerRuntimeVersion, "containerd://2."; !strings.HasPrefix(got, want) {
		t.Errorf("container runtime = %q; want %q…", got, want)
	}
	if node.Labels[realnode.Label] != "true" || node.Labels[component.SimulatedNodeLabel] != "" {
		t.Errorf("labels = %v; want that it is real and not simulated", node.Labels)
	}
	list, err := r.client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	if diff := cmp.Diff([]string{"sim-0001", "sim-0002", r.node}, names); diff != "" {
		t.Errorf("nodes (-want +got):\n%s", diff)
	}
}

func (r *rig) testPods(t *testing.T) {
	r.create(t,
		r.pod("idle", realnode.PauseImage, nil),
		r.pod("burner", realnode.WorkloadImage, cpu("100m"), "-cpus=0.3", "-memory-mib=64", "-report=1s"),
	)
	r.awaitReady(t, "idle", "burner")
	sandboxtest.Eventually(t, patience, func() error {
		logs, err := r.client.CoreV1().Pods(metav1.NamespaceDefault).GetLogs("burner", &corev1.PodLogOptions{}).DoRaw(t.Context())
		if want := "uses 0.3 CPUs and 64 MiB\n"; err == nil && !strings.HasPrefix(string(logs), want) {
			err = fmt.Errorf("logs = %q; want %q", logs, want)
		}
		return err
	})
	r.testExec(t)
}

// testExec runs the pod's program once more inside it, with an argument that it refuses: its answer and exit code come back.
func (r *rig) testExec(t *testing.T) {
	config, err := r.Config()
	if err != nil {
		t.Fatal(err)
	}
	request := r.client.CoreV1().RESTClient().Post().Namespace(metav1.NamespaceDefault).Resource("pods").Name("burner").SubResource("exec").
		VersionedParams(&corev1.PodExecOptions{Command: []string{"/burn", "-cpus=-1"}, Stderr: true}, scheme.ParameterCodec)
	executor, err := remotecommand.NewWebSocketExecutor(config, "GET", request.URL().String())
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	err = executor.StreamWithContext(t.Context(), remotecommand.StreamOptions{Stderr: &stderr})
	if exit := (utilexec.CodeExitError{}); !errors.As(err, &exit) || exit.Code != 1 {
		t.Errorf("exec = %v; want exit code 1", err)
	}
	if want := "error: CPUs -1 must be between 0 and 1024\n"; stderr.String() != want {
		t.Errorf("standard error of exec = %q; want %q", stderr.String(), want)
	}
}

// testMeasured wants about what the pod was told to use: a busy machine may give it less, and its memory has the program too.
func (r *rig) testMeasured(t *testing.T) {
	sandboxtest.Eventually(t, 3*patience, func() error {
		object, err := r.dynamic.Resource(slov1alpha1.GroupVersion.WithResource("nodemetrics")).Get(t.Context(), r.node, metav1.GetOptions{})
		if err != nil {
			return err
		}
		var metric slov1alpha1.NodeMetric
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &metric); err != nil {
			return err
		}
		i := slices.IndexFunc(metric.Status.PodsMetric, func(p *slov1alpha1.PodMetricInfo) bool { return p.Name == "burner" })
		if i < 0 {
			return errors.New("the NodeMetric says nothing of pod burner")
		}
		used := metric.Status.PodsMetric[i].PodUsage.ResourceList
		milli, mebi := used.Cpu().MilliValue(), used.Memory().Value()>>20
		if milli < 150 || milli > 400 || mebi < 60 || mebi > 110 {
			return fmt.Errorf("burner is measured at %d milli-CPUs and %d MiB; want about 300 and 64", milli, mebi)
		}
		return nil
	})
}

func (r *rig) testKilled(t *testing.T) {
	before := r.awaitReady(t, "idle", "burner")
	for _, name := range []string{component.Kubelet, component.Containerd} {
		r.kill(t, name)
	}
	r.killSystem(t, component.Koordlet, component.Scheduler, component.Manager)
	r.create(t, r.pod("later", realnode.PauseImage, nil))
	after := r.awaitReady(t, "idle", "burner", "later")
	for name, status := range before {
		if diff := cmp.Diff(status, after[name]); diff != "" {
			t.Errorf("container of %s, which ran all the time (-before +after):\n%s", name, diff)
		}
	}
}

func (r *rig) testSupervisorKilled(t *testing.T) {
	before := r.awaitReady(t, "burner")["burner"]
	r.killSupervisor(t)
	r.up(t.Context(), t)
	sandboxtest.Eventually(t, patience, func() error {
		if after := r.awaitReady(t, "burner")["burner"]; after.ContainerID == before.ContainerID {
			return fmt.Errorf("container of burner is still %q; want another", after.ContainerID)
		}
		return nil
	})
	r.awaitReady(t, "batch")
	r.wantBatch(t, r.kernel(t))
}
