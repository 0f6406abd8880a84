package report

import (
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"

	"koordinator.sh/koord/agent/host"
	"koordinator.sh/koord/agent/metrics"
	"koordinator.sh/koord/agent/prediction"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/freshness"
	"koordinator.sh/koord/decision/core/podrequest"
)

var update = flag.Bool("update", false, "write golden files anew")

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// measured is a node that used 3 of its cores for ten minutes, then 5; one pod of it uses 1.25 cores.
func measured() *metrics.Node {
	node := metrics.NewNode(metrics.Policy{Period: 10 * time.Second})
	snapshot := &host.Snapshot{Pods: []host.PodCounter{{UID: "web", Counter: host.Counter{Memory: 1 << 30}}}}
	snapshot.Node.Memory = 3 << 30
	for at := noon.Add(-15 * time.Minute); !at.After(noon); at = at.Add(10 * time.Second) {
		cores := 3 * time.Duration(1)
		if at.After(noon.Add(-5 * time.Minute)) {
			cores = 5
		}
		snapshot.Time = at
		snapshot.Node.CPU += cores * 10 * time.Second
		snapshot.Pods[0].CPU += 12500 * time.Millisecond
		node.Observe(snapshot)
	}
	return node
}

func input() Input {
	return Input{
		UpdateTime: noon, At: noon, Metrics: measured(),
		Pods: []Pod{
			{UID: "web", Namespace: "shop", Name: "web-1", Band: extension.PriorityProd, QoS: extension.QoSLS},
			{UID: "new", Namespace: "shop", Name: "not-sampled-yet", Band: extension.PriorityProd, QoS: extension.QoSLS},
		},
		Prediction: &prediction.Estimate{
			Reclaimable: podrequest.Amount{MilliCPU: 2500, Memory: 5 << 30}, Peak: podrequest.Amount{MilliCPU: 1500, Memory: 3 << 30},
		},
	}
}

func TestStatus(t *testing.T) {
	got, err := json.MarshalIndent(Status(input()), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "status.json")
	if *update {
		if err := os.WriteFile(golden, append(got, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)+"\n"); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
}

func TestStatusWithoutSamples(t *testing.T) {
	got := Status(Input{UpdateTime: noon, At: noon, Metrics: metrics.NewNode(metrics.Policy{}), Pods: []Pod{{UID: "web", Name: "web-1"}}})
	updated := metav1.NewTime(noon)
	if diff := cmp.Diff(&slov1alpha1.NodeMetricStatus{UpdateTime: &updated}, got); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
}

func TestOldSamplesAreNotReported(t *testing.T) {
	in := input()
	in.At = noon.Add(time.Hour)
	if got := Status(in); got.NodeMetric != nil || got.PodsMetric != nil {
		t.Errorf("an hour after the last sample the node still reports %v", got)
	}
}

// TestPatchRemovesWhatIsNoLongerMeasured also shows what a patch leaves alone: fields it does not know.
func TestPatchRemovesWhatIsNoLongerMeasured(t *testing.T) {
	patch, err := Patch(Status(Input{UpdateTime: noon, At: noon, Metrics: measured()}))
	if err != nil {
		t.Fatal(err)
	}
	var fields struct {
		Status map[string]json.RawMessage `json:"status"`
	}
	if err := json.Unmarshal(patch, &fields); err != nil {
		t.Fatal(err)
	}
	removed := map[string]bool{}
	for name, value := range fields.Status {
		removed[name] = string(value) == "null"
	}
	want := map[string]bool{
		"updateTime": false, "nodeMetric": false, "podsMetric": true, "hostApplicationMetric": true,
		"prodReclaimableMetric": true, "prodPeakMetric": true, "conditions": true,
	}
	if diff := cmp.Diff(want, removed); diff != "" {
		t.Errorf("fields of the patch and whether they are removed (-want +got):\n%s", diff)
	}
	var node map[string]json.RawMessage
	if err := json.Unmarshal(fields.Status["nodeMetric"], &node); err != nil {
		t.Fatal(err)
	}
	if string(node["numaUsages"]) != "null" || string(node["nodeUsage"]) == "null" {
		t.Errorf("nodeMetric = %s, want usage without that of NUMA nodes", fields.Status["nodeMetric"])
	}
}

func TestWriterPatchesTheStatus(t *testing.T) {
	var got struct{ method, path, contentType, accept, body string }
	answer := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got.method, got.path, got.body = r.Method, r.URL.Path, string(body)
		got.contentType, got.accept = r.Header.Get("Content-Type"), r.Header.Get("Accept")
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(answer)
		_, _ = io.WriteString(w, `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1"}`)
	}))
	defer server.Close()
	writer := NewWriter(clientOf(t, server.URL))
	status := Status(input())
	if err := writer.Write(t.Context(), "sim-1", status); err != nil {
		t.Fatal(err)
	}
	if got.method != http.MethodPatch || got.path != "/apis/slo.koordinator.sh/v1alpha1/nodemetrics/sim-1/status" {
		t.Errorf("request %s %s", got.method, got.path)
	}
	if got.contentType != "application/merge-patch+json" || got.accept != metadataOnly {
		t.Errorf("content type %q, accepts %q", got.contentType, got.accept)
	}
	var sent slov1alpha1.NodeMetric
	if err := json.Unmarshal([]byte(got.body), &sent); err != nil {
		t.Fatal(err)
	}
	if !equality.Semantic.DeepEqual(&sent.Status, status) {
		t.Errorf("sent status differs:\n%s", cmp.Diff(status, &sent.Status))
	}
	answer = http.StatusConflict
	if err := writer.Write(t.Context(), "sim-1", status); err == nil {
		t.Error("a refusal is no error")
	}
}

func clientOf(t *testing.T, url string) rest.Interface {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := slov1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	client, err := rest.RESTClientFor(&rest.Config{
		Host: url, APIPath: "/apis",
		ContentConfig: rest.ContentConfig{GroupVersion: &slov1alpha1.GroupVersion, NegotiatedSerializer: serializer.NewCodecFactory(scheme)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func TestInterval(t *testing.T) {
	for seconds, want := range map[int64]time.Duration{
		-5: freshness.MinReportInterval, 0: freshness.MinReportInterval, 10: freshness.MinReportInterval, 60: time.Minute, 120: 2 * time.Minute, 1 << 62: maxInterval,
	} {
		spec := &slov1alpha1.NodeMetricSpec{CollectPolicy: &slov1alpha1.NodeMetricCollectPolicy{ReportIntervalSeconds: &seconds}}
		if got := Interval(spec); got != want {
			t.Errorf("Interval(%d s) = %s, want %s", seconds, got, want)
		}
	}
	if got := Interval(&slov1alpha1.NodeMetricSpec{}); got != time.Minute {
		t.Errorf("Interval() = %s without a policy, want the default of a minute", got)
	}
}

func TestMetricsPolicy(t *testing.T) {
	spec := &slov1alpha1.NodeMetricSpec{CollectPolicy: &slov1alpha1.NodeMetricCollectPolicy{
		AggregateDurationSeconds: new(int64(120)),
		NodeAggregatePolicy:      &slov1alpha1.AggregatePolicy{Durations: []metav1.Duration{{Duration: time.Hour}, {Duration: -1}}},
	}}
	want := metrics.Policy{Period: time.Second, Aggregate: 2 * time.Minute, Durations: []time.Duration{time.Hour}}
	if diff := cmp.Diff(want, MetricsPolicy(spec, time.Second)); diff != "" {
		t.Errorf("policy (-want +got):\n%s", diff)
	}
	want = metrics.Policy{Period: time.Second, Aggregate: 5 * time.Minute, Durations: metrics.DefaultDurations()}
	if diff := cmp.Diff(want, MetricsPolicy(&slov1alpha1.NodeMetricSpec{}, time.Second)); diff != "" {
		t.Errorf("default policy (-want +got):\n%s", diff)
	}
}
