package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/test/freeport"
	"koordinator.sh/koord/test/sandboxtest"
)

var elasticWorkersResource = schedulingv1alpha1.GroupVersion.WithResource("elasticworkers")

// engine answers for all workers of a test: it counts those that it asks to finish, and says when they have.
type engine struct {
	host     string
	port     int
	asked    atomic.Int32
	finished atomic.Bool
}

// startEngine serves on an address of this machine that a pod could have.
func startEngine(t *testing.T) *engine {
	t.Helper()
	e := &engine{}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range addresses {
		if ip, isNet := address.(*net.IPNet); isNet && ip.IP.IsGlobalUnicast() && ip.IP.To4() != nil {
			e.host = ip.IP.String()
		}
	}
	if e.host == "" {
		t.Skip("this machine has no address but loopback, and workers are not asked there")
	}
	listener, err := net.Listen("tcp4", net.JoinHostPort(e.host, "0"))
	if err != nil {
		t.Fatal(err)
	}
	e.port = listener.Addr().(*net.TCPAddr).Port
	server := &http.Server{Handler: e}
	go func() { _ = server.Serve(listener) }() // until it is closed
	t.Cleanup(func() { _ = server.Close() })
	return e
}

func (e *engine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	switch {
	case r.Method == http.MethodPut && string(body) == `"SHUTTING_DOWN"`:
		e.asked.Add(1)
	case e.finished.Load():
		_, _ = io.WriteString(w, `"DRAINED"`)
	default:
		_, _ = io.WriteString(w, `"DRAINING"`)
	}
}

// workersManager runs a second manager, which sizes ElasticWorkers beside the sandbox's own, and returns how to kill it.
func workersManager(t *testing.T) (kill func()) {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(shared.Program("koord-manager"),
		"--kubeconfig="+filepath.Join(shared.Directory(), "kubeconfig"), "--metrics-bind-address=0", "--health-probe-bind-address=0", "--webhook-port=0",
		"--diagnostics-bind-address=127.0.0.1", fmt.Sprintf("--diagnostics-port=%d", freeport.Next(t)), "--leader-elect=false", "--manage-certificates=false",
		"--elastic-workers")
	command.Stdout, command.Stderr = log, log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	killed := false
	kill = func() {
		if killed {
			return
		}
		killed = true
		if err := command.Process.Kill(); err != nil {
			t.Errorf("kill the manager: %v", err)
		}
		_ = command.Wait() // the error says that it was killed
	}
	t.Cleanup(func() {
		kill()
		if t.Failed() {
			data, _ := os.ReadFile(log.Name())
			t.Logf("the log of the manager:\n%s", data[max(len(data)-5000, 0):])
		}
		_ = log.Close() // written by others
	})
	return kill
}

// relabel sets labels of a node, or takes them off where they are nil.
func relabel(ctx context.Context, node string, labels map[string]any) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": labels}})
	if err != nil {
		return err
	}
	_, err = client.CoreV1().Nodes().Patch(ctx, node, types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}

// reserveNodes labels and taints nodes for the pods of a pool until the end of the test, and deletes the pods there that hold batch: jobs of
// the sandbox would otherwise take at any time what the test counts on.
func reserveNodes(t *testing.T, pool string, nodes ...string) {
	t.Helper()
	patch := func(ctx context.Context, node, label, taints string) {
		body := fmt.Sprintf(`{"metadata":{"labels":{"pool":%s}},"spec":{"taints":%s}}`, label, taints)
		if _, err := client.CoreV1().Nodes().Patch(ctx, node, types.MergePatchType, []byte(body), metav1.PatchOptions{}); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(func() {
		for _, node := range nodes {
			patch(context.Background(), node, "null", "null")
		}
	})
	for _, node := range nodes {
		patch(t.Context(), node, fmt.Sprintf("%q", pool), fmt.Sprintf(`[{"key":%q,"value":%q,"effect":"NoSchedule"}]`, poolTaint, pool))
		pods, err := client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{FieldSelector: "spec.nodeName=" + node})
		if err != nil {
			t.Fatal(err)
		}
		for i := range pods.Items {
			pod := &pods.Items[i]
			if podrequest.Of(pod).Requests.Batch.MilliCPU == 0 {
				continue
			}
			err := client.CoreV1().Pods(pod.Namespace).Delete(t.Context(), pod.Name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))})
			if err != nil && !apierrors.IsNotFound(err) {
				t.Fatal(err)
			}
		}
	}
}

// workersOn gives each worker of a Deployment the address of the engine, and returns the nodes of the workers by their UIDs.
func workersOn(ctx context.Context, namespace string, e *engine) (map[types.UID]string, error) {
	pods, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	out := map[types.UID]string{}
	for i := range pods.Items {
		pod := &pods.Items[i]
		if pod.DeletionTimestamp != nil {
			continue
		}
		out[pod.UID] = pod.Spec.NodeName
		if pod.Status.Phase != corev1.PodRunning {
			return nil, fmt.Errorf("worker %s is %s%s", pod.Name, pod.Status.Phase, why([]corev1.Pod{*pod}))
		}
		if pod.Status.PodIP == e.host {
			continue
		}
		patch := fmt.Sprintf(`{"status":{"podIP":%q,"podIPs":[{"ip":%q}]}}`, e.host, e.host)
		if _, err := client.CoreV1().Pods(namespace).Patch(ctx, pod.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, "status"); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// createWorkers creates a Deployment of no workers yet, of which two fit on each node, and its ElasticWorkers.
func createWorkers(t *testing.T, namespace, pool string, cpu, memory int64, e *engine) {
	t.Helper()
	template := demand(namespace, "", pool, string(extension.BatchCPU), fmt.Sprint(cpu), string(extension.BatchMemory), fmt.Sprint(memory))
	template.Labels = map[string]string{"app": "trino-worker", extension.LabelPodQoS: string(extension.QoSBE)}
	template.Spec.PriorityClassName, template.Spec.RestartPolicy = string(extension.PriorityBatch), corev1.RestartPolicyAlways
	template.Spec.Tolerations = []corev1.Toleration{{Key: poolTaint, Value: pool}}
	_, err := client.AppsV1().Deployments(namespace).Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "trino-worker"},
		Spec: appsv1.DeploymentSpec{Replicas: new(int32(0)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "trino-worker"}}, Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: template.Labels}, Spec: template.Spec,
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`{"apiVersion": "scheduling.koordinator.sh/v1alpha1", "kind": "ElasticWorkers", "metadata": {"name": "trino"}, "spec": {
		"targetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "trino-worker"}, "maxReplicas": 20, "headroomPercent": 0, "horizonSeconds": 0,
		"scaleUp": {"periodSeconds": 1}, "scaleDown": {"periodSeconds": 1, "stabilizationSeconds": 0},
		"drain": {"http": {"port": %d, "path": "/v1/info/state", "body": "\"SHUTTING_DOWN\"", "done": {"path": "/v1/info/state", "answer": "\"DRAINED\""}}}}}`, e.port)
	object := &unstructured.Unstructured{}
	if err := json.Unmarshal([]byte(text), &object.Object); err != nil {
		t.Fatal(err)
	}
	if _, err := dynamicClient.Resource(elasticWorkersResource).Namespace(namespace).Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func readElasticWorkers(ctx context.Context, namespace string) (*schedulingv1alpha1.ElasticWorkers, error) {
	object, err := dynamicClient.Resource(elasticWorkersResource).Namespace(namespace).Get(ctx, "trino", metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	out := &schedulingv1alpha1.ElasticWorkers{}
	return out, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, out)
}

// TestWorkersFollowWhatNodesOffer has two nodes, of which one offers batch at times only: workers come when it does, and drain before they
// go when it ends. The manager is killed while they drain.
func TestWorkersFollowWhatNodesOffer(t *testing.T) {
	const pool, steady, changing = "it-workers", "sim-0009", "sim-0010"
	e, namespace := startEngine(t), space(t, pool)
	off := func(now any) error {
		return relabel(t.Context(), changing, map[string]any{"elastic": now})
	}
	colocate(t, map[string]any{"name": "elastic-off", "nodeSelector": map[string]any{"matchLabels": map[string]any{"elastic": "off"}}, "enable": false})
	t.Cleanup(func() {
		if err := relabel(context.Background(), changing, map[string]any{"elastic": nil}); err != nil {
			t.Error(err)
		}
	})
	reserveNodes(t, pool, steady, changing)
	cpu, memory := int64(1)<<40, int64(1)<<60
	for _, node := range []string{steady, changing} {
		awaitNode(t, node, func(now *corev1.Node) error {
			offered, bytes := now.Status.Allocatable[extension.BatchCPU], now.Status.Allocatable[extension.BatchMemory]
			if offered.Value() < 4000 || bytes.Value() < 1<<30 {
				return fmt.Errorf("%s offers %s of batch-cpu and %s of batch-memory", node, offered.String(), bytes.String())
			}
			cpu, memory = min(cpu, offered.Value()/4), min(memory, bytes.Value()/16)
			return nil
		})
	}
	if err := off("off"); err != nil {
		t.Fatal(err)
	}
	kill := workersManager(t)
	createWorkers(t, namespace, pool, cpu, memory, e)
	before := awaitWorkers(t, namespace, e, func(nodes map[types.UID]string) error {
		for _, node := range nodes {
			if node != steady {
				return fmt.Errorf("a worker is on %s, which offers nothing", node)
			}
		}
		return nil
	})
	if err := off(nil); err != nil {
		t.Fatal(err)
	}
	awaitWorkers(t, namespace, e, func(nodes map[types.UID]string) error {
		if len(nodes) <= len(before) {
			return fmt.Errorf("%d workers on two nodes, %d on one", len(nodes), len(before))
		}
		return nil
	})
	if err := off("off"); err != nil {
		t.Fatal(err)
	}
	sandboxtest.Eventually(t, 2*patience, func() error {
		if _, err := workersOn(t.Context(), namespace, e); err != nil {
			return err
		}
		if e.asked.Load() == 0 {
			object, err := readElasticWorkers(t.Context(), namespace)
			if err != nil {
				return err
			}
			return fmt.Errorf("no worker is asked to finish: %s", sizeOf(&object.Status))
		}
		return nil
	})
	kill()
	draining, err := readElasticWorkers(t.Context(), namespace)
	if err != nil {
		t.Fatal(err)
	}
	if len(draining.Status.Draining) == 0 || draining.Status.Draining[0].Node != changing {
		t.Errorf("the status tells of %+v, want workers on %s that drain", draining.Status.Draining, changing)
	}
	workersManager(t)
	e.finished.Store(true)
	awaitWorkers(t, namespace, e, func(nodes map[types.UID]string) error {
		for _, node := range nodes {
			if node == changing {
				return fmt.Errorf("a worker is still on %s", changing)
			}
		}
		return nil
	})
	explained := koordctl(t, 0, "explain", "workers", "trino", "-n", namespace)
	if !strings.Contains(explained.Stdout, "fitsNow") {
		t.Errorf("the explanation has no waterfall:\n%s", explained.Stdout)
	}
}

// sizeOf says what the status tells of the size.
func sizeOf(status *schedulingv1alpha1.ElasticWorkersStatus) string {
	return fmt.Sprintf("%s; terms %v, nodes %v, conditions %v", status.Message, status.Terms, status.Nodes, status.Conditions)
}

// awaitWorkers waits until all workers run, as many as the status says, none drains, and what is wanted of them holds.
func awaitWorkers(t *testing.T, namespace string, e *engine, wanted func(map[types.UID]string) error) map[types.UID]string {
	t.Helper()
	var nodes map[types.UID]string
	sandboxtest.Eventually(t, 3*patience, func() error {
		var err error
		if nodes, err = workersOn(t.Context(), namespace, e); err != nil {
			return err
		}
		object, err := readElasticWorkers(t.Context(), namespace)
		if err != nil {
			return err
		}
		status := &object.Status
		if len(nodes) == 0 || len(nodes) != int(status.CurrentReplicas) || status.CurrentReplicas != status.DesiredReplicas || len(status.Draining) > 0 {
			return fmt.Errorf("%d workers run, %d draining; %s", len(nodes), len(status.Draining), sizeOf(status))
		}
		return wanted(nodes)
	})
	return nodes
}
