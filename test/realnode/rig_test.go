package realnode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"koordinator.sh/koord/sandbox/control"
	"koordinator.sh/koord/sandbox/realnode"
	"koordinator.sh/koord/sandbox/state"
	"koordinator.sh/koord/test/sandboxtest"
)

// patience is how long a test waits for what usually takes seconds.
const patience = time.Minute

// rig is a sandbox with a real node.
type rig struct {
	*sandboxtest.Sandbox
	node    string
	client  kubernetes.Interface
	dynamic dynamic.Interface
}

// required is what the environment variable KOORD_TEST_REAL_NODE says where a machine that cannot be a node is a failure.
const required = "required"

// newRig returns a sandbox that is not started, and skips the test where the machine cannot be a node.
func newRig(t *testing.T) *rig {
	t.Helper()
	skip := t.Skip
	if os.Getenv("KOORD_TEST_REAL_NODE") == required {
		skip = t.Fatal
	}
	bin, err := sandboxtest.Bin()
	if err != nil {
		skip(err)
	}
	home, err := os.MkdirTemp("", "koord-real-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) }) // a temporary directory
	const name = "realtest"
	hostname, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	node := realnode.NodeName(hostname)
	if err := realnode.ThisHost().CheckStart(state.Open(home, name), state.Spec{Name: name, RealNode: node, Binaries: bin}); err != nil {
		skip(err)
	}
	sandbox, err := sandboxtest.New(name, home)
	if err != nil {
		t.Fatal(err)
	}
	return &rig{Sandbox: sandbox, node: node}
}

// start starts the sandbox, and takes it down at the test's end at the latest.
func (r *rig) start(t *testing.T, flags ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	t.Cleanup(func() {
		if err := r.Down(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	r.up(ctx, t, append([]string{"--real-node"}, flags...)...)
}

func (r *rig) up(ctx context.Context, t *testing.T, flags ...string) {
	t.Helper()
	if err := r.Up(ctx, flags...); err != nil {
		t.Fatal(err)
	}
	var err error
	if r.client, r.dynamic, err = r.Clients(); err != nil {
		t.Fatal(err)
	}
}

// status is what the supervisor says.
func (r *rig) status(ctx context.Context) (control.Status, error) {
	var status control.Status
	result, err := r.Koordctl(ctx, "sandbox", "status", "--name", r.Name, "-o", "json")
	if err == nil {
		err = json.Unmarshal([]byte(result.Stdout), &status)
	}
	return status, err
}

func (r *rig) component(ctx context.Context, name string) (control.Component, error) {
	status, err := r.status(ctx)
	if err != nil {
		return control.Component{}, err
	}
	i := slices.IndexFunc(status.Components, func(c control.Component) bool { return c.Name == name })
	if i < 0 {
		return control.Component{}, fmt.Errorf("there is no component %q", name)
	}
	return status.Components[i], nil
}

// kill ends a component as the kernel would when memory runs out, and waits until the supervisor has started it again.
func (r *rig) kill(t *testing.T, name string) {
	t.Helper()
	before, err := r.component(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(before.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	sandboxtest.Eventually(t, patience, func() error {
		now, err := r.component(t.Context(), name)
		if err == nil && (now.Restarts == before.Restarts || now.Phase != control.Running) {
			err = fmt.Errorf("%s is %s after %d restarts; want that it runs again", name, now.Phase, now.Restarts)
		}
		return err
	})
}

// killSystem ends programs of the system's pods as the kernel would when memory runs out, and waits until kubelet has started
// them again.
func (r *rig) killSystem(t *testing.T, names ...string) {
	t.Helper()
	before := map[string]int32{}
	for _, name := range names {
		_, before[name] = r.systemPod(t, name)
		pids := r.programs(t, name)
		if len(pids) != 1 {
			t.Fatalf("%d processes of %s run in the node's pods; want 1", len(pids), name)
		}
		if err := syscall.Kill(pids[0], syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	sandboxtest.Eventually(t, patience, func() error {
		for name, restarts := range before {
			if ready, now := r.systemPod(t, name); !ready || now == restarts {
				return fmt.Errorf("%s is ready: %t, after %d restarts; want that it is ready again", name, ready, now)
			}
		}
		return nil
	})
}

// systemPod reports whether a component's pod is ready, and how often the container of its name was started again.
func (r *rig) systemPod(t *testing.T, name string) (ready bool, restarts int32) {
	t.Helper()
	pods, err := r.client.CoreV1().Pods("koordinator-system").List(t.Context(), metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=" + name})
	if err != nil || len(pods.Items) != 1 {
		t.Fatalf("there are %d pods of %s, %v; want one", len(pods.Items), name, err)
	}
	for _, status := range pods.Items[0].Status.ContainerStatuses {
		if status.Name == name {
			return status.Ready, status.RestartCount
		}
	}
	t.Fatalf("the pod of %s has no container of that name", name)
	return false, 0
}

// programs are the processes of a name in the node's pods. What copies kubelet's files beside the agent is the agent's program, too.
func (r *rig) programs(t *testing.T, name string) []int {
	t.Helper()
	var pids []int
	for _, dir := range glob(t, "/proc/[0-9]*") {
		// Of one that has ended meanwhile, nothing can be read.
		program, _ := os.ReadFile(filepath.Join(dir, "comm"))
		cgroups, _ := os.ReadFile(filepath.Join(dir, "cgroup"))
		command, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		if strings.TrimSpace(string(program)) == name && !strings.Contains(string(command), "copy-kubelet-files") && strings.Contains(string(cgroups), "/koord-sandbox-"+r.Name) {
			pid, err := strconv.Atoi(filepath.Base(dir))
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, pid)
		}
	}
	return pids
}

// pod is one with a single container, bound to the real node: the scheduler would keep it from a machine that is busy.
func (r *rig) pod(name, image string, requests corev1.ResourceList, args ...string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: metav1.NamespaceDefault},
		Spec: corev1.PodSpec{
			NodeName: r.node,
			Containers: []corev1.Container{{
				Name: "main", Image: image, ImagePullPolicy: corev1.PullNever, Args: args,
				Resources: corev1.ResourceRequirements{Requests: requests},
			}},
		},
	}
}

func cpu(quantity string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(quantity)}
}

func (r *rig) create(t *testing.T, pods ...*corev1.Pod) {
	t.Helper()
	for _, p := range pods {
		if _, err := r.client.CoreV1().Pods(p.Namespace).Create(t.Context(), p, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// awaitReady waits until pods run on the real node, and returns their containers' statuses.
func (r *rig) awaitReady(t *testing.T, names ...string) map[string]corev1.ContainerStatus {
	t.Helper()
	statuses := map[string]corev1.ContainerStatus{}
	sandboxtest.Eventually(t, patience, func() error {
		var problems []error
		for _, name := range names {
			p, err := r.client.CoreV1().Pods(metav1.NamespaceDefault).Get(t.Context(), name, metav1.GetOptions{})
			if err == nil && (len(p.Status.ContainerStatuses) != 1 || !p.Status.ContainerStatuses[0].Ready || p.Spec.NodeName != r.node) {
				err = fmt.Errorf("pod %q on %q is %s: %+v", name, p.Spec.NodeName, p.Status.Phase, p.Status.ContainerStatuses)
			}
			if err == nil {
				statuses[name] = p.Status.ContainerStatuses[0]
			}
			problems = append(problems, err)
		}
		return errors.Join(problems...)
	})
	return statuses
}

// killSupervisor ends the supervisor without giving it the time to end anything else.
func (r *rig) killSupervisor(t *testing.T) {
	t.Helper()
	status, err := r.status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(status.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

// stop takes the sandbox down and keeps its data.
func (r *rig) stop(t *testing.T) {
	t.Helper()
	result, err := r.Koordctl(t.Context(), "sandbox", "down", "--name", r.Name)
	if err != nil || result.Code != 0 {
		t.Fatalf("sandbox down: %v: %+v", err, result)
	}
}
