package integration

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/bridge/yarn"
	"koordinator.sh/koord/bridge/yarn/resourcemanagersim"
	"koordinator.sh/koord/test/sandboxtest"
)

// bridge is a koord-bridge beside the shared sandbox.
type bridge struct {
	command *exec.Cmd
	log     *syncBuffer
}

// syncBuffer is written by a process while a test reads it.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// startBridge starts koord-bridge for a ResourceManager until the end of the test.
func startBridge(t *testing.T, rm string, flags ...string) *bridge {
	t.Helper()
	conf := t.TempDir()
	site := fmt.Sprintf(`<configuration><property><name>yarn.resourcemanager.address</name><value>%[1]s</value></property>
<property><name>yarn.resourcemanager.admin.address</name><value>%[1]s</value></property></configuration>`, rm)
	if err := os.WriteFile(filepath.Join(conf, "yarn-site.xml"), []byte(site), 0o600); err != nil {
		t.Fatal(err)
	}
	b := &bridge{log: &syncBuffer{}}
	b.command = exec.CommandContext(context.WithoutCancel(t.Context()), shared.Program("koord-bridge"), append([]string{
		"--kubeconfig=" + filepath.Join(shared.Directory(), "kubeconfig"), "--yarn-conf-dir=" + conf, "--bind-address=127.0.0.1",
		"--secure-port=0", "--leader-elect=false", "-v=1",
	}, flags...)...)
	b.command.Stdout, b.command.Stderr = b.log, b.log
	if err := b.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		b.kill()
		if t.Failed() {
			t.Logf("koord-bridge:\n%s", tail(b.log.String(), 15))
		}
	})
	return b
}

func tail(text string, lines int) string {
	all := strings.Split(text, "\n")
	return strings.Join(all[max(len(all)-lines, 0):], "\n")
}

// kill ends it without warning.
func (b *bridge) kill() {
	_ = b.command.Process.Kill() // it may have ended
	_ = b.command.Wait()         // with the signal
}

// batch is what a node has, offers and has given away of its batch resources.
type batch struct{ origin, offered, taken yarn.Resource }

func batchOf(node *corev1.Node) (out batch, err error) {
	units := func(list corev1.ResourceList) yarn.Resource {
		cpu, memory := list[extension.BatchCPU], list[extension.BatchMemory]
		return yarn.Resource{VCores: cpu.Value(), MiB: memory.Value()} // in milli-cores and bytes
	}
	out.offered = units(node.Status.Allocatable)
	origin, err := extension.GetOriginExtendedAllocatable(node.Annotations)
	if err != nil {
		return out, err
	}
	if origin != nil {
		out.origin = units(origin.Resources)
	}
	allocations, err := extension.GetThirdPartyAllocations(node.Annotations)
	if err != nil || allocations == nil {
		return out, err
	}
	for _, one := range allocations.Allocations {
		if one.Name == extension.ThirdPartyYARN {
			out.taken = units(one.Resources)
		}
	}
	return out, nil
}

// TestYARNGetsWhatPodsLeave: a NodeManager's capability follows the node, beside pods, whatever comes and goes; what YARN may use is never
// offered to pods.
func TestYARNGetsWhatPodsLeave(t *testing.T) {
	const node = "sim-0005"
	id := yarn.NodeID{Host: "nm", Port: 8041}
	rm, err := resourcemanagersim.Start(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(rm.Close)
	register := func() {
		rm.SetNode(yarn.Node{ID: id, State: yarn.StateRunning, Capability: yarn.Resource{VCores: 64, MiB: 256 << 10}})
	}
	register()
	// The node has batch whatever its services use.
	annotate(t.Context(), t, node, extension.AnnotationNodeColocationStrategy, `{"cpuReclaimThresholdPercent":150,"memoryReclaimThresholdPercent":120}`)
	annotate(t.Context(), t, node, extension.AnnotationYARNNodeID, id.String())
	t.Cleanup(func() {
		annotate(context.WithoutCancel(t.Context()), t, node, extension.AnnotationNodeColocationStrategy, "")
		annotate(context.WithoutCancel(t.Context()), t, node, extension.AnnotationYARNNodeID, "")
		annotate(context.WithoutCancel(t.Context()), t, node, extension.AnnotationNodeThirdPartyAllocations, "")
	})
	b := startBridge(t, rm.Address())
	// settled waits until both sides agree and YARN has some of the node, and returns the node and what YARN has.
	settled := func(what string, check func(batch, yarn.Node) error) {
		t.Helper()
		awaitNode(t, node, func(n *corev1.Node) error {
			has, err := batchOf(n)
			if err != nil {
				return err
			}
			nm := rm.Node(id.String())
			if has.taken.VCores < nm.Capability.VCores*1000 || has.taken.MiB < nm.Capability.MiB<<20 {
				return fmt.Errorf("%s: YARN may use %+v, and Kubernetes counts %+v as taken", what, nm.Capability, has.taken)
			}
			if has.offered.VCores+has.taken.VCores > has.origin.VCores || has.offered.MiB+has.taken.MiB > has.origin.MiB {
				return fmt.Errorf("%s: pods are offered %+v beside %+v, of %+v", what, has.offered, has.taken, has.origin)
			}
			if err := check(has, nm); err != nil {
				return fmt.Errorf("%s: %w", what, err)
			}
			return nil
		})
	}
	some := func(_ batch, nm yarn.Node) error {
		if nm.Capability.MiB == 0 || nm.Capability.VCores == 64 {
			return fmt.Errorf("YARN may use %+v", nm.Capability)
		}
		return nil
	}
	settled("a NodeManager registers with more than there is", some)
	register()
	settled("it registers again", some)
	rm.SetPending(yarn.Resource{VCores: 100, MiB: 1})
	var all yarn.Resource
	settled("applications wait", func(has batch, nm yarn.Node) error {
		if has.offered.VCores >= 1000+heldBy(t, node) || nm.Capability.VCores < 3 {
			return fmt.Errorf("YARN may use %+v, and %d milli-cores are left to pods that nobody waits for", nm.Capability, has.offered.VCores)
		}
		// A pod of the sandbox that waits takes the capacity back: it is allocated while it is there.
		all = nm.Capability
		if !rm.Allocate(id.String(), yarn.Resource{VCores: all.VCores, MiB: 1024}) {
			return fmt.Errorf("YARN cannot allocate the %d vcores that it had", all.VCores)
		}
		return nil
	})
	rm.SetPending(yarn.Resource{})
	settled("containers run", func(has batch, nm yarn.Node) error {
		if nm.Capability.VCores < nm.Used.VCores || has.offered.MiB < has.origin.MiB/4 {
			return fmt.Errorf("YARN uses %+v of %+v, and pods are offered %+v", nm.Used, nm.Capability, has.offered)
		}
		return nil
	})
	b.kill()
	startBridge(t, rm.Address())
	rm.Release(id.String(), yarn.Resource{VCores: all.VCores, MiB: 1024})
	settled("the bridge is started again, and the containers end", func(has batch, nm yarn.Node) error {
		if has.taken.VCores != nm.Capability.VCores*1000 || has.offered.VCores < has.origin.VCores/4 {
			return fmt.Errorf("YARN may use %+v, Kubernetes counts %+v as taken and offers %+v", nm.Capability, has.taken, has.offered)
		}
		return nil
	})
	rm.RemoveNode(id.String()) // as a ResourceManager that was started again, to which no NodeManager has come yet
	allocationsStay(t, node)
	for _, change := range rm.Changes() {
		if change.TimeoutMillis <= 0 {
			t.Errorf("%+v kills at once", change)
		}
	}
	annotate(context.WithoutCancel(t.Context()), t, node, extension.AnnotationYARNNodeID, "")
	awaitNode(t, node, func(n *corev1.Node) error { return says(n, extension.AnnotationNodeThirdPartyAllocations, "") })
}

// allocationsStay checks that what engines take of a node stays as it is while a bridge looks several times. A round that is under way may
// change it before.
func allocationsStay(t *testing.T, node string) {
	t.Helper()
	settled := time.Now().Add(time.Second)
	ends := settled.Add(3 * time.Second)
	given := ""
	sandboxtest.Eventually(t, patience, func() error {
		n, err := client.CoreV1().Nodes().Get(t.Context(), node, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if time.Now().Before(settled) || given == "" {
			given = n.Annotations[extension.AnnotationNodeThirdPartyAllocations]
			return fmt.Errorf("%q is taken at first", given)
		}
		if err := says(n, extension.AnnotationNodeThirdPartyAllocations, given); err != nil {
			t.Fatal(err)
		}
		if time.Now().Before(ends) {
			return errors.New("the bridge has not looked several times")
		}
		return nil
	})
}

// heldBy is the milli-cores of batch that pods of a node request.
func heldBy(t *testing.T, node string) int64 {
	t.Helper()
	pods, err := client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{FieldSelector: "spec.nodeName=" + node})
	if err != nil {
		t.Fatal(err)
	}
	held := int64(0)
	for i := range pods.Items {
		for _, container := range pods.Items[i].Spec.Containers {
			cpu := container.Resources.Requests[extension.BatchCPU]
			held += cpu.Value()
		}
	}
	return held
}

// TestAResourceManagerThatIsAway changes nothing of what it was given, and is told again when it is back.
func TestAResourceManagerThatIsAway(t *testing.T) {
	const node = "sim-0006"
	id := yarn.NodeID{Host: "nm", Port: 8041}
	rm, err := resourcemanagersim.Start(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer rm.Close()
	address := rm.Address()
	rm.SetNode(yarn.Node{ID: id, State: yarn.StateRunning})
	annotate(context.WithoutCancel(t.Context()), t, node, extension.AnnotationYARNNodeID, id.String())
	t.Cleanup(func() {
		annotate(context.WithoutCancel(t.Context()), t, node, extension.AnnotationYARNNodeID, "")
		annotate(context.WithoutCancel(t.Context()), t, node, extension.AnnotationNodeThirdPartyAllocations, "")
	})
	b := startBridge(t, address)
	awaitNode(t, node, func(*corev1.Node) error {
		if rm.Node(id.String()).Capability.MiB == 0 {
			return errors.New("YARN has nothing")
		}
		return nil
	})
	rm.Close()
	sandboxtest.Eventually(t, patience, func() error {
		if !strings.Contains(b.log.String(), "KOORD1601") {
			return errors.New("the log does not name KOORD1601")
		}
		return nil
	})
	allocationsStay(t, node)
	again, err := resourcemanagersim.Start(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	again.SetNode(yarn.Node{ID: id, State: yarn.StateRunning, Capability: yarn.Resource{VCores: 64, MiB: 1024}})
	sandboxtest.Eventually(t, patience, func() error {
		if got := again.Node(id.String()).Capability; got.VCores == 64 || got.MiB <= 1024 {
			return fmt.Errorf("YARN may use %+v", got)
		}
		return nil
	})
}

// TestTwoNodeManagersOnANode: the one whose pod is older gets all that YARN gets of the node, and an event says so.
func TestTwoNodeManagersOnANode(t *testing.T) {
	const node = "sim-0007"
	old, young := yarn.NodeID{Host: "old", Port: 8041}, yarn.NodeID{Host: "young", Port: 8041}
	rm, err := resourcemanagersim.Start(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(rm.Close)
	for _, id := range []yarn.NodeID{old, young} {
		rm.SetNode(yarn.Node{ID: id, State: yarn.StateRunning, Capability: yarn.Resource{VCores: 1, MiB: 1024}})
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				GenerateName: "nm-" + id.Host + "-", Namespace: "default",
				Labels:      map[string]string{extension.LabelAppComponent: extension.ComponentNodeManager},
				Annotations: map[string]string{extension.AnnotationYARNNodeID: id.String()},
			},
			Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "nm", Image: "none"}}},
		}
		created, err := client.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = client.CoreV1().Pods("default").Delete(context.Background(), created.Name, metav1.DeleteOptions{GracePeriodSeconds: new(int64)}) // the sandbox ends, too
		})
		if id == old { // creation times are whole seconds
			sandboxtest.Eventually(t, patience, func() error {
				if time.Since(created.CreationTimestamp.Time) < 1100*time.Millisecond {
					return errors.New("the second pod would be as old")
				}
				return nil
			})
		}
	}
	t.Cleanup(func() {
		annotate(context.Background(), t, node, extension.AnnotationNodeThirdPartyAllocations, "")
	})
	startBridge(t, rm.Address())
	sandboxtest.Eventually(t, patience, func() error {
		first, second := rm.Node(old.String()).Capability, rm.Node(young.String()).Capability
		if first.MiB <= 1024 || second != (yarn.Resource{}) {
			return fmt.Errorf("the NodeManagers may use %+v and %+v", first, second)
		}
		return nil
	})
	awaitNodeEvent(t, node, "AgentsDuplicate", "KOORD1603", young.String())
}
