package ecosystem

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"
)

// metricsPath is the annotation of a node by which metrics-server finds its usage below another path than /metrics/resource.
const metricsPath = "metrics.k8s.io/resource-metrics-path"

// kubelets does for the simulated nodes of a sandbox what autoscalers need of kubelets: it reports what containers use, in the format and
// below the path of kubelet, and reports that containers got the resources that they were resized to. The load of an app is divided among
// its pods that run, as a Service would.
type kubelets struct {
	client ctrlclient.Client
	port   int

	mu sync.Mutex
	// load of apps in cores, and memory that each of their pods uses.
	load   map[string]float64
	memory int64
	spent  map[types.UID]float64
	last   time.Time
}

// runKubelets serves the usage of all nodes until the test ends.
func (r *rig) runKubelets(t *testing.T) *kubelets {
	t.Helper()
	k := &kubelets{client: r.client, load: map[string]float64{}, memory: 400 << 20, spent: map[types.UID]float64{}, last: time.Now()}
	server := httptest.NewTLSServer(k)
	t.Cleanup(server.Close)
	address, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	if k.port, err = strconv.Atoi(address.Port()); err != nil {
		t.Fatal(err)
	}
	var nodes corev1.NodeList
	if err := r.client.List(t.Context(), &nodes); err != nil {
		t.Fatal(err)
	}
	for i := range nodes.Items {
		node := nodes.Items[i].DeepCopy()
		node.Annotations = maps.Clone(node.Annotations)
		if node.Annotations == nil {
			node.Annotations = map[string]string{}
		}
		node.Annotations[metricsPath] = "/" + node.Name + "/metrics/resource"
		if err := r.client.Patch(t.Context(), node, ctrlclient.MergeFrom(&nodes.Items[i])); err != nil {
			t.Fatal(err)
		}
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var working sync.WaitGroup
	working.Go(func() {
		for ; ctx.Err() == nil; wait(ctx, time.Second) {
			if err := k.actuate(ctx); err != nil && ctx.Err() == nil {
				t.Logf("report the resources of containers: %v", err)
			}
		}
	})
	t.Cleanup(func() { stop(); working.Wait() })
	return k
}

// wait until a time has passed or the context ends.
func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// serves sets the load of an app, in cores.
func (k *kubelets) serves(app string, cores float64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.load[app] = cores
}

// actuate reports the resources that containers were given, which are those of their pod at once.
func (k *kubelets) actuate(ctx context.Context) error {
	var pods corev1.PodList
	if err := k.client.List(ctx, &pods); err != nil {
		return err
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		if pod.Status.Phase != corev1.PodRunning || len(pod.Status.ContainerStatuses) != len(pod.Spec.Containers) {
			continue
		}
		changed := pod.DeepCopy()
		for j := range changed.Status.ContainerStatuses {
			changed.Status.ContainerStatuses[j].Resources = pod.Spec.Containers[j].Resources.DeepCopy()
		}
		if equality.Semantic.DeepEqual(changed.Status, pod.Status) {
			continue
		}
		if err := k.client.Status().Patch(ctx, changed, ctrlclient.StrategicMergeFrom(pod)); ctrlclient.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

// ServeHTTP answers as kubelets do, each below the name of its node.
func (k *kubelets) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	node, path, _ := strings.Cut(strings.TrimPrefix(request.URL.Path, "/"), "/")
	if path != "metrics/resource" {
		http.NotFound(w, request)
		return
	}
	text, err := k.metrics(request.Context(), node)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	fmt.Fprint(w, text)
}

// metrics of a node in the text format of Prometheus.
func (k *kubelets) metrics(ctx context.Context, node string) (string, error) {
	var pods corev1.PodList
	if err := k.client.List(ctx, &pods); err != nil {
		return "", err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	now := time.Now()
	k.spend(pods.Items, now)
	var cpu, memory, started strings.Builder
	cores, bytes := 0.0, int64(0)
	for i := range pods.Items {
		pod := &pods.Items[i]
		if pod.Spec.NodeName != node || !runs(pod) {
			continue
		}
		of := fmt.Sprintf("{container=%q,namespace=%q,pod=%q}", pod.Spec.Containers[0].Name, pod.Namespace, pod.Name)
		fmt.Fprintf(&cpu, "container_cpu_usage_seconds_total%s %f %d\n", of, k.spent[pod.UID], now.UnixMilli())
		fmt.Fprintf(&memory, "container_memory_working_set_bytes%s %d %d\n", of, k.memory, now.UnixMilli())
		fmt.Fprintf(&started, "container_start_time_seconds%s %d\n", of, pod.Status.StartTime.Unix())
		cores, bytes = cores+k.spent[pod.UID], bytes+k.memory
	}
	return "# TYPE container_cpu_usage_seconds_total counter\n" + cpu.String() +
		"# TYPE container_memory_working_set_bytes gauge\n" + memory.String() +
		"# TYPE container_start_time_seconds gauge\n" + started.String() +
		fmt.Sprintf("# TYPE node_cpu_usage_seconds_total counter\nnode_cpu_usage_seconds_total %f %d\n", cores, now.UnixMilli()) +
		fmt.Sprintf("# TYPE node_memory_working_set_bytes gauge\nnode_memory_working_set_bytes %d %d\n", bytes, now.UnixMilli()), nil
}

// spend divides the load of the time since it was last asked for.
func (k *kubelets) spend(pods []corev1.Pod, now time.Time) {
	running := map[string]int{}
	for i := range pods {
		if runs(&pods[i]) {
			running[pods[i].Labels["app"]]++
		}
	}
	seconds := now.Sub(k.last).Seconds()
	for i := range pods {
		if app := pods[i].Labels["app"]; runs(&pods[i]) {
			k.spent[pods[i].UID] += k.load[app] / float64(running[app]) * seconds
		}
	}
	k.last = now
}

func runs(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodRunning && pod.DeletionTimestamp == nil && pod.Status.StartTime != nil
}
