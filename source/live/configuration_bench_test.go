package live

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/configuration"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// BenchmarkImpact5000 reads what a plan needs of 5,000 nodes with 50,000 pods. Beside the time, which depends on what else
// the machine does, it reports CPU time, of the test's server too.
func BenchmarkImpact5000(b *testing.B) {
	server := largeCluster(5000, 10)
	server.Start(b)
	if _, err := New(server.Config(""), Options{}).Impact(b.Context()); err != nil {
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
		if request.URL.Path == "/apis/slo.koordinator.sh/v1alpha1/nodeslos" {
			answer = nodeSLOs(b, len(server.Nodes))
		}
		replay.known[url] = answer
		size += answer.Body.Len()
	}
	fast := httptest.NewServer(replay)
	defer fast.Close()
	config := server.Kubeconfig("")
	config.Clusters["test"].Server = fast.URL
	before := cpuTime(b)
	for b.Loop() {
		impact, err := New(clientConfig(config), Options{}).Impact(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		if len(impact.Nodes) != 5000 || len(impact.SLOs) != 5000 || len(impact.Pods) != 50000 {
			b.Fatalf("%d nodes, %d NodeSLOs, %d pods: %q", len(impact.Nodes), len(impact.SLOs), len(impact.Pods), impact.Incomplete)
		}
	}
	b.ReportMetric(float64(size)/1e6, "MB/answer")
	b.ReportMetric((cpuTime(b)-before).Seconds()/float64(b.N), "cpu-s/op")
}

func nodeSLOs(b *testing.B, n int) *httptest.ResponseRecorder {
	b.Helper()
	list := slov1alpha1.NodeSLOList{TypeMeta: metav1.TypeMeta{APIVersion: slov1alpha1.GroupVersion.String(), Kind: "NodeSLOList"}}
	for i := range n {
		list.Items = append(list.Items, slov1alpha1.NodeSLO{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("node-%04d", i), ManagedFields: managed(2000)},
			Spec: slov1alpha1.NodeSLOSpec{
				ResourceUsedThresholdWithBE: configuration.DefaultResourceThresholdStrategy(), ResourceQOSStrategy: configuration.DefaultResourceQOSStrategy(),
				CPUBurstStrategy: configuration.DefaultCPUBurstStrategy(), SystemStrategy: configuration.DefaultSystemStrategy(),
			},
		})
	}
	answer := httptest.NewRecorder()
	answer.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(answer).Encode(list); err != nil {
		b.Fatal(err)
	}
	return answer
}

func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
