package ecosystem

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"
)

// containers does for the pods of a namespace what kubelets do: it runs the command of each pod that is bound as a process, in a folder
// of its own as working directory, restarts it or reports that it ended, and ends it with its pod.
type containers struct {
	client    ctrlclient.Client
	namespace string
	// home holds the folders of the pods, by their names.
	home string
	// host is the address of pods with the annotation "host", as any program can reach it; others get one of their own on the loopback.
	host    string
	running map[types.UID]context.CancelFunc
	working sync.WaitGroup
}

// runContainers runs the pods of a namespace until the test ends.
func (r *rig) runContainers(t *testing.T, namespace, host string) *containers {
	t.Helper()
	c := &containers{client: r.client, namespace: namespace, host: host, home: t.TempDir(), running: map[types.UID]context.CancelFunc{}}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	c.working.Go(func() {
		for ; ctx.Err() == nil; wait(ctx, 300*time.Millisecond) {
			if err := c.sync(ctx); err != nil && ctx.Err() == nil {
				t.Logf("run pods: %v", err)
			}
		}
	})
	t.Cleanup(func() { stop(); c.working.Wait(); c.showLogs(t) })
	return c
}

// showLogs prints the end of what each pod printed where the test failed.
func (c *containers) showLogs(t *testing.T) {
	logs, _ := filepath.Glob(filepath.Join(c.home, "*", "log")) // the pattern is well-formed
	for _, log := range logs {
		if data, err := os.ReadFile(log); t.Failed() && err == nil {
			t.Logf("pod %s:\n%s", filepath.Base(filepath.Dir(log)), data[max(0, len(data)-3000):])
		}
	}
}

// sync starts the pods that run for the first time, and ends those that are deleted.
func (c *containers) sync(ctx context.Context) error {
	var pods corev1.PodList
	if err := c.client.List(ctx, &pods, ctrlclient.InNamespace(c.namespace)); err != nil {
		return err
	}
	there := map[types.UID]bool{}
	for i := range pods.Items {
		pod := &pods.Items[i]
		if pod.Status.Phase != corev1.PodRunning || pod.DeletionTimestamp != nil {
			continue
		}
		there[pod.UID] = true
		if c.running[pod.UID] != nil {
			continue
		}
		if err := c.address(ctx, pod, len(c.running)+10); err != nil {
			return err
		}
		podContext, stop := context.WithCancel(ctx)
		c.running[pod.UID] = stop
		c.working.Go(func() { c.run(podContext, pod) })
	}
	for uid, stop := range c.running {
		if !there[uid] {
			stop()
		}
	}
	return nil
}

// address gives a pod its address.
func (c *containers) address(ctx context.Context, pod *corev1.Pod, number int) error {
	address := fmt.Sprintf("127.9.0.%d", number)
	if pod.Annotations["host"] != "" {
		address = c.host
	}
	return c.report(ctx, pod, func(status *corev1.PodStatus) {
		status.PodIP, status.PodIPs = address, []corev1.PodIP{{IP: address}}
	})
}

// report changes the status of a pod that is still there.
func (c *containers) report(ctx context.Context, pod *corev1.Pod, change func(*corev1.PodStatus)) error {
	before := pod.DeepCopy()
	change(&pod.Status)
	return ctrlclient.IgnoreNotFound(c.client.Status().Patch(ctx, pod, ctrlclient.MergeFrom(before)))
}

// run runs the command of a pod until it ends for good, or its pod does.
func (c *containers) run(ctx context.Context, pod *corev1.Pod) {
	for {
		started := metav1.Now()
		code := c.process(ctx, pod)
		if ctx.Err() != nil {
			return
		}
		ended := &corev1.ContainerStateTerminated{ExitCode: code, StartedAt: started, FinishedAt: metav1.Now()}
		restart := pod.Spec.RestartPolicy == corev1.RestartPolicyAlways
		err := c.report(ctx, pod, func(status *corev1.PodStatus) {
			of := &status.ContainerStatuses[0]
			if restart {
				of.LastTerminationState.Terminated = ended
				of.RestartCount++
				return
			}
			of.State, of.Ready, status.Phase = corev1.ContainerState{Terminated: ended}, false, corev1.PodSucceeded
			if code != 0 {
				status.Phase = corev1.PodFailed
			}
		})
		if !restart || err != nil {
			return
		}
		wait(ctx, 100*time.Millisecond)
	}
}

// process runs the command of a pod once, and returns its exit code.
func (c *containers) process(ctx context.Context, pod *corev1.Pod) int32 {
	home := filepath.Join(c.home, pod.Name)
	log, err := os.OpenFile(filepath.Join(home, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if errors.Is(err, os.ErrNotExist) && os.Mkdir(home, 0o700) == nil {
		log, err = os.OpenFile(filepath.Join(home, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	}
	if err != nil {
		return -1
	}
	defer log.Close()
	container := &pod.Spec.Containers[0]
	command := exec.CommandContext(ctx, container.Command[0], append(container.Command[1:], container.Args...)...)
	command.Dir, command.Stdout, command.Stderr = home, log, log
	command.Env = append(os.Environ(), environment(pod)...)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGTERM) }
	command.WaitDelay = time.Second
	if err := command.Start(); err != nil {
		fmt.Fprintln(log, err)
		return -1
	}
	_ = command.Wait()                                      // the exit code says enough
	_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL) // what is left of its processes
	return int32(command.ProcessState.ExitCode())
}

// environment of a pod, of values and of what the downward API has.
func environment(pod *corev1.Pod) []string {
	fields := map[string]string{"metadata.name": pod.Name, "status.podIP": pod.Status.PodIP}
	out := []string{"PATH=/usr/bin:/bin", "HOSTNAME=" + cmp.Or(pod.Spec.Hostname, pod.Name)} // the programs of Debian
	for _, variable := range pod.Spec.Containers[0].Env {
		value := variable.Value
		if from := variable.ValueFrom; from != nil && from.FieldRef != nil {
			value = fields[from.FieldRef.FieldPath]
		}
		out = append(out, variable.Name+"="+value)
	}
	return out
}
