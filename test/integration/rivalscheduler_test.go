package integration

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/sandbox/component"
	"koordinator.sh/koord/sandbox/pki"
	"koordinator.sh/koord/sandbox/state"
	"koordinator.sh/koord/test/freeport"
	"koordinator.sh/koord/test/sandboxtest"
)

// startKubeScheduler starts Kubernetes' own scheduler beside koord-scheduler, with its own rights. It ends with the test.
func startKubeScheduler(t *testing.T) {
	t.Helper()
	kubeconfig := pki.KubeconfigFile(state.At(shared.Directory()), component.KubeScheduler)
	logFile, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	p := &process{ended: make(chan struct{}), command: exec.Command(shared.Program("koord-sandbox"), component.KubeScheduler,
		"--kubeconfig="+kubeconfig, "--authentication-kubeconfig="+kubeconfig, "--authorization-kubeconfig="+kubeconfig,
		"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", freeport.Next(t)), "--leader-elect=false")}
	p.command.Stdout, p.command.Stderr = logFile, logFile
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.command.Wait() // how it ended is in its state
		close(p.ended)
	}()
	t.Cleanup(func() {
		_ = p.command.Process.Kill() // it may have ended
		<-p.ended
		_ = logFile.Close() // written by the process
		if data, err := os.ReadFile(logFile.Name()); t.Failed() && err == nil {
			t.Logf("the log of kube-scheduler ends:\n%s", data[max(0, len(data)-3000):])
		}
	})
}

// plainPod is the i-th of pods that kube-scheduler places, of one CPU.
func plainPod(_ *rand.Rand, namespace, pool string, i int) *corev1.Pod {
	pod := demand(namespace, fmt.Sprintf("plain-%03d", i), pool, "cpu", "1")
	pod.Spec.SchedulerName, pod.Spec.PriorityClassName = corev1.DefaultSchedulerName, ""
	return pod
}

// batchPod is the i-th of pods that live on what the node offers to batch pods.
func batchPod(_ *rand.Rand, namespace, pool string, i int) *corev1.Pod {
	pod := demand(namespace, fmt.Sprintf("batch-%03d", i), pool, string(extension.BatchCPU), "500", string(extension.BatchMemory), "256Mi")
	pod.Labels[extension.LabelPodQoS], pod.Spec.PriorityClassName = string(extension.QoSBE), string(extension.PriorityBatch)
	return pod
}

// onNode has a pod go to one node of its pool.
func onNode(pod *corev1.Pod, node string) *corev1.Pod {
	pod.Spec.NodeSelector = map[string]string{corev1.LabelHostname: node}
	return pod
}

// TestARivalSchedulerIsReckonedWith has kube-scheduler place pods on the nodes on which koord-scheduler gives away CPUs and batch
// resources. While both bind at the same time there is room for all that may be alive, for two schedulers that do not know of each
// other's latest bindings can together promise more than a node has. Whoever binds alone promises no more.
func TestARivalSchedulerIsReckonedWith(t *testing.T) {
	const name, pool = "it-beside", "beside"
	watcher := observe(t)
	names := machines(t, pool, 3)
	exclusive, batch, plain := space(t, "inv-beside-cpus"), space(t, "inv-beside-batch"), space(t, "inv-beside-plain")
	own := startScheduler(t, name)
	startKubeScheduler(t)

	// One pod more than is alive may still be on its way out: 5 times 2 CPUs and 4 times 1 are what one node has.
	cpus, others := churn{exclusive, pool, 4, corePod, "cpu"}.placedBy(name), churn{plain, pool, 3, plainPod, "plain"}
	stop := background(t, cpus.run, others.run, churn{batch, pool, 4, batchPod, "batch"}.placedBy(name).run)
	for _, namespace := range []string{exclusive, batch, plain, exclusive, plain} {
		awaitSome(t, namespace)
	}
	stop()
	for namespace, alive := range map[string]int{exclusive: cpus.alive, batch: 4, plain: others.alive} {
		awaitBound(t, patience, namespace, alive, 0)
	}
	agrees(t, watcher, own, exclusive, names)

	t.Run("koord-scheduler refuses what kube-scheduler filled", func(t *testing.T) {
		namespace := space(t, "inv-beside-filled")
		filled := fill(t, namespace, names[0], func(pod *corev1.Pod) *corev1.Pod {
			pod.Spec.SchedulerName, pod.Spec.PriorityClassName = corev1.DefaultSchedulerName, ""
			return pod
		})
		agrees(t, watcher, own, exclusive, names)
		late := awaitRefused(t, namespace, "cpu", func(name string) *corev1.Pod {
			pod := plainPod(nil, namespace, pool, 0) // of no priority, so that it preempts no pod
			pod.Name = name
			return own.places(onNode(pod, names[0]))
		})
		if err := remove(t.Context(), namespace, filled); err != nil {
			t.Fatal(err)
		}
		awaitBoundTo(t, namespace, late, names[0])
	})
	t.Run("kube-scheduler refuses what koord-scheduler filled", func(t *testing.T) {
		namespace := space(t, "inv-beside-full")
		filled := fill(t, namespace, names[1], func(pod *corev1.Pod) *corev1.Pod {
			return own.places(binding(pod, policies[2]))
		})
		late := awaitRefused(t, namespace, "cpu", func(name string) *corev1.Pod {
			pod := plainPod(nil, namespace, pool, 0)
			pod.Name = name
			return onNode(pod, names[1])
		})
		if err := remove(t.Context(), namespace, filled); err != nil {
			t.Fatal(err)
		}
		awaitBoundTo(t, namespace, late, names[1])
	})
	agrees(t, watcher, own, exclusive, names)
	for _, node := range watcher.Nodes(names) {
		for _, violation := range append(node.WithinAllocatable(nil), node.CPUsOwnedOnce()...) {
			t.Error(violation)
		}
	}
}

// fill has pods of one CPU each bound to a node until it has no CPU left, and returns the name of one of them. Pods of before that are on
// their way out make room once more.
func fill(t *testing.T, namespace, node string, change func(*corev1.Pod) *corev1.Pod) (one string) {
	t.Helper()
	made := 0
	sandboxtest.Eventually(t, patience, func() error {
		pods, err := client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{FieldSelector: "spec.nodeName=" + node})
		if err != nil {
			return err
		}
		free := int64(machineCPUs - keptCPUs)
		for i := range pods.Items {
			free -= pods.Items[i].Spec.Containers[0].Resources.Requests.Cpu().Value()
		}
		if free == 0 {
			return nil
		}
		for range free {
			one = fmt.Sprintf("fill-%02d", made)
			mustSubmit(t, change(onNode(demand(namespace, one, "", "cpu", "1"), node)))
			made++
		}
		awaitBound(t, patience, namespace, made, 0)
		return fmt.Errorf("%d CPUs of node %s were free", free, node)
	})
	return one
}

// awaitRefused creates pods until a scheduler says of one that it fits nowhere for want of a resource, and returns its name. What the
// other scheduler bound a moment ago it may not have seen yet: a pod that it binds meanwhile is taken back.
func awaitRefused(t *testing.T, namespace, want string, newPod func(name string) *corev1.Pod) (name string) {
	t.Helper()
	attempt := 0
	sandboxtest.Eventually(t, patience, func() error {
		if name == "" {
			name = fmt.Sprintf("late-%d", attempt)
			attempt++
			mustSubmit(t, newPod(name))
		}
		pod, err := client.CoreV1().Pods(namespace).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if node := pod.Spec.NodeName; node != "" {
			err := fmt.Errorf("%s is bound to %s, which is full", name, node)
			name = ""
			return errors.Join(err, remove(t.Context(), namespace, pod.Name))
		}
		said := why([]corev1.Pod{*pod})
		if !strings.Contains(said, want) {
			return errors.New("the scheduler says of " + name + ": " + said)
		}
		return nil
	})
	return name
}

// awaitBoundTo waits until a pod is bound to a node.
func awaitBoundTo(t *testing.T, namespace, name, node string) {
	t.Helper()
	sandboxtest.Eventually(t, patience, func() error {
		pod, err := client.CoreV1().Pods(namespace).Get(t.Context(), name, metav1.GetOptions{})
		if err == nil && pod.Spec.NodeName != node {
			err = fmt.Errorf("%s is on %q, want %s%s", name, pod.Spec.NodeName, node, why([]corev1.Pod{*pod}))
		}
		return err
	})
}
