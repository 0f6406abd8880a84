package live

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/source/live/livetest"
)

// recorder replays answers, so that what is measured is this program and not the test's server.
type recorder struct {
	known map[string]*httptest.ResponseRecorder
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	known := r.known[req.URL.String()]
	w.Header().Set("Content-Type", known.Header().Get("Content-Type"))
	w.WriteHeader(known.Code)
	_, _ = w.Write(known.Body.Bytes())
}

func BenchmarkNodes1000(b *testing.B) { benchmarkNodes(b, source.NodeQuery{}) }

// BenchmarkNodes1000Balance also asks how koord-descheduler judges each node.
func BenchmarkNodes1000Balance(b *testing.B) { benchmarkNodes(b, source.NodeQuery{Balance: true}) }

func benchmarkNodes(b *testing.B, query source.NodeQuery) {
	server := largeCluster(1000, 20)
	server.ConfigMaps = append(server.ConfigMaps, deschedulerConfig(bothPlugins))
	config := replayed(b, server, func(s *Source) error {
		_, err := s.Nodes(b.Context(), query)
		return err
	})
	for b.Loop() {
		list, err := New(clientConfig(config), Options{}).Nodes(b.Context(), query)
		if err != nil {
			b.Fatal(err)
		}
		if len(list.Items) != 1000 || *list.Items[7].Pods != 20 || *list.Items[7].CPU.ProdRequested == 0 {
			b.Fatalf("unexpected answer: %d nodes", len(list.Items))
		}
		if balance := list.Items[7].Balance; (balance != nil) != query.Balance {
			b.Fatalf("balance %+v", balance)
		}
	}
}

// BenchmarkExplainPod1000 explains a pod that no node has room for, without koord-scheduler.
func BenchmarkExplainPod1000(b *testing.B) {
	server := largeCluster(1000, 20)
	waiting := largePod("waiting", "")
	waiting.Status = corev1.PodStatus{Phase: corev1.PodPending}
	waiting.Spec.Containers[0].Resources.Requests = resources("30", "1Gi")
	server.Pods = append(server.Pods, waiting)
	ask := func(s *Source) error {
		answer, err := s.ExplainPod(b.Context(), "default", "waiting", diagnosticsv1alpha1.PodExplanationSpec{})
		if err == nil && answer.Status.NodesTotal != 1000 {
			err = fmt.Errorf("unexpected answer: %+v", answer.Status)
		}
		return err
	}
	config := replayed(b, server, ask)
	b.ReportAllocs()
	for b.Loop() {
		if err := ask(New(clientConfig(config), Options{})); err != nil {
			b.Fatal(err)
		}
	}
}

// replayed is a kubeconfig for a server that answers one question over and over, as another one answers it the first time.
func replayed(b *testing.B, server *livetest.Server, ask func(*Source) error) clientcmdapi.Config {
	b.Helper()
	server.Start(b)
	if err := ask(New(server.Config(""), Options{})); err != nil {
		b.Fatal(err)
	}
	replay := &recorder{known: map[string]*httptest.ResponseRecorder{}}
	size := 0
	for _, asked := range server.Requests() {
		var method, url string
		if _, err := fmt.Sscan(asked, &method, &url); err != nil {
			b.Fatal(err)
		}
		request := httptest.NewRequest(method, url, nil)
		if request.URL.Path[:5] == "/api/" {
			request.Header.Set("Accept", "application/vnd.kubernetes.protobuf")
		}
		answer := httptest.NewRecorder()
		server.ServeHTTP(answer, request)
		replay.known[url] = answer
		size += answer.Body.Len()
	}
	fast := httptest.NewServer(replay)
	b.Cleanup(fast.Close)
	config := server.Kubeconfig("")
	config.Clusters["test"].Server = fast.URL
	b.ReportMetric(float64(size)/1e6, "MB/answer")
	return config
}

// largeCluster has nodes with pods as large as real ones: some 3 KB each in protobuf.
func largeCluster(nodes, podsPerNode int) *livetest.Server {
	server := &livetest.Server{}
	now := time.Now()
	for n := range nodes {
		name := fmt.Sprintf("node-%04d", n)
		server.Nodes = append(server.Nodes, corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, ManagedFields: managed(2000)},
			Status: corev1.NodeStatus{
				Capacity:    resources("32", "128Gi"),
				Allocatable: resources("31", "126Gi"),
				Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
				Images:      []corev1.ContainerImage{{Names: []string{"example.org/an/image/of/some/length:v1.2.3", "example.org/an/image@sha256:0123456789abcdef"}, SizeBytes: 1 << 30}},
			},
		})
		metric := slov1alpha1.NodeMetric{ObjectMeta: metav1.ObjectMeta{Name: name, ManagedFields: managed(800)}, Status: slov1alpha1.NodeMetricStatus{
			UpdateTime: &metav1.Time{Time: now},
			NodeMetric: &slov1alpha1.NodeMetricInfo{NodeUsage: slov1alpha1.ResourceMap{ResourceList: resources("12", "40Gi")}, SystemUsage: slov1alpha1.ResourceMap{ResourceList: resources("500m", "2Gi")}},
		}}
		for _, window := range []time.Duration{5 * time.Minute, 10 * time.Minute, 30 * time.Minute} {
			usage := slov1alpha1.AggregatedUsage{Duration: metav1.Duration{Duration: window}}
			metric.Status.NodeMetric.AggregatedNodeUsages = append(metric.Status.NodeMetric.AggregatedNodeUsages, usage)
		}
		for p := range podsPerNode {
			pod := largePod(fmt.Sprintf("service-%04d-%02d-7d9c5b6f4-abcde", n, p), name)
			server.Pods = append(server.Pods, pod)
			metric.Status.PodsMetric = append(metric.Status.PodsMetric, &slov1alpha1.PodMetricInfo{Namespace: pod.Namespace, Name: pod.Name, PodUsage: slov1alpha1.ResourceMap{ResourceList: resources("431m", "1234567890")}, Priority: "koord-prod", QoS: "LS"})
		}
		server.Metrics = append(server.Metrics, metric)
	}
	return server
}

func largePod(name, node string) corev1.Pod {
	mount := corev1.VolumeMount{Name: "kube-api-access-abcde", ReadOnly: true, MountPath: "/var/run/secrets/kubernetes.io/serviceaccount"}
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name), ManagedFields: managed(1500), Labels: map[string]string{"app": "service", "pod-template-hash": "7d9c5b6f4", "koordinator.sh/qosClass": "LS"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "service-7d9c5b6f4", UID: "x"}}},
		Spec: corev1.PodSpec{
			NodeName: node, SchedulerName: "koord-scheduler", Priority: new(int32(9500)), PriorityClassName: "koord-prod",
			Volumes: []corev1.Volume{{Name: "kube-api-access-abcde", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token"}}}}}}},
			Containers: []corev1.Container{{
				Name: "main", Image: "example.org/an/image/of/some/length:v1.2.3", Args: []string{"--config=/etc/service/config.yaml", "--verbose"},
				Env:       []corev1.EnvVar{{Name: "POD_NAME", Value: "x"}, {Name: "DATABASE_URL", Value: "postgres://db.default.svc.cluster.local/service"}},
				Resources: corev1.ResourceRequirements{Requests: resources("500m", "1Gi"), Limits: resources("1", "2Gi")}, VolumeMounts: []corev1.VolumeMount{mount},
			}},
		},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, QOSClass: corev1.PodQOSBurstable, PodIP: "10.1.2.3", HostIP: "10.0.0.1",
			Conditions:        []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}, {Type: corev1.PodScheduled, Status: corev1.ConditionTrue}, {Type: corev1.PodInitialized, Status: corev1.ConditionTrue}, {Type: corev1.ContainersReady, Status: corev1.ConditionTrue}},
			ContainerStatuses: []corev1.ContainerStatus{{Name: "main", Ready: true, Image: "example.org/an/image/of/some/length:v1.2.3", ImageID: "example.org/an/image@sha256:0123456789abcdef0123456789abcdef", ContainerID: "containerd://0123456789abcdef", Resources: &corev1.ResourceRequirements{Requests: resources("500m", "1Gi"), Limits: resources("1", "2Gi")}}},
		},
	}
}

func managed(size int) []metav1.ManagedFieldsEntry {
	return []metav1.ManagedFieldsEntry{{Manager: "kubelet", Operation: metav1.ManagedFieldsOperationUpdate, FieldsV1: metav1.NewFieldsV1(fmt.Sprintf(`{"f:%0*d":{}}`, size, 0))}}
}

func resources(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
}
