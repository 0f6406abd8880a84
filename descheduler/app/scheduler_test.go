package app

import (
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kubefake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"

	"koordinator.sh/koord/api/configuration"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/rebalance"
)

func TestThresholdsAreReadFromTheSchedulersConfiguration(t *testing.T) {
	config := func(text string) []runtime.Object {
		return []runtime.Object{&corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: configuration.DefaultNamespace, Name: configuration.SchedulerConfigMapName}, Data: map[string]string{"koord-scheduler-config": text},
		}}
	}
	for name, test := range map[string]struct {
		objects []runtime.Object
		want    map[corev1.ResourceName]int64
		wantErr string
	}{
		"no configuration stands for the defaults": {},
		"its arguments": {
			objects: config("kind: KubeSchedulerConfiguration\nprofiles: [{pluginConfig: [{name: LoadAwareScheduling, args: {usageThresholds: {cpu: 15}}}]}]"),
			want:    map[corev1.ResourceName]int64{"cpu": 15},
		},
		"one that cannot be read": {objects: config("kind: [\n"), wantErr: "koord-scheduler-config"},
	} {
		t.Run(name, func(t *testing.T) {
			args, err := (&environment{client: kubefake.NewClientset(test.objects...)}).schedulerArgs(t.Context())
			if (err != nil) != (test.wantErr != "") || err != nil && !strings.Contains(err.Error(), test.wantErr) {
				t.Fatalf("error %v, want %q", err, test.wantErr)
			}
			var got map[corev1.ResourceName]int64
			if args != nil {
				got = args.UsageThresholds
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("thresholds (-want +got):\n%s", diff)
			}
		})
	}
}

// TestQuestionsToTheSchedulerAreCounted, of a scheduler that --scheduler-ca-file verifies.
func TestQuestionsToTheSchedulerAreCounted(t *testing.T) {
	leader, status := true, http.StatusOK
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		answer := diagnosticsv1alpha1.PlacementReview{Status: diagnosticsv1alpha1.PlacementReviewStatus{Origin: diagnosticsv1alpha1.Origin{Leader: leader}}}
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	client, err := newSchedulerClient(&rest.Config{}, &Options{SchedulerEndpoint: server.URL, SchedulerCAFile: file}, func() []byte { return nil })
	if err != nil {
		t.Fatal(err)
	}
	registry := prometheus.NewRegistry()
	planning, err := newPlanning(registry)
	if err != nil {
		t.Fatal(err)
	}
	asked := reviewing{client, planning.reviews}
	ask := func(wantErr bool) {
		t.Helper()
		if _, err := asked.ReviewPlacements(t.Context(), &diagnosticsv1alpha1.PlacementReview{}); (err != nil) != wantErr {
			t.Errorf("error %v, want one: %t", err, wantErr)
		}
	}
	ask(false)
	leader = false
	ask(false)
	status = http.StatusTeapot
	ask(true)
	planning.report(rebalance.Plan{Steps: []rebalance.Step{{Remedy: rebalance.Migrate}}, Before: 2, After: 1}, &rebalance.Trace{Skipped: []rebalance.Skip{{Reason: rebalance.NoTarget}}}, nil)
	want := `
# HELP descheduler_placement_reviews_total Questions to koord-scheduler about planned moves: answered, standby when its leader did not answer, or failed.
# TYPE descheduler_placement_reviews_total counter
descheduler_placement_reviews_total{result="answered"} 1
descheduler_placement_reviews_total{result="failed"} 1
descheduler_placement_reviews_total{result="standby"} 1
# HELP descheduler_planned_steps_total Steps that LoadAwareRebalancing planned, by the remedy.
# TYPE descheduler_planned_steps_total counter
descheduler_planned_steps_total{remedy="Migrate"} 1
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "descheduler_placement_reviews_total", "descheduler_planned_steps_total"); err != nil {
		t.Error(err)
	}
}

func TestTheSchedulerIsNotAskedWithoutAnEndpoint(t *testing.T) {
	if client, err := newSchedulerClient(&rest.Config{}, NewOptions(), nil); client != nil || err != nil {
		t.Errorf("client %v, error %v", client, err)
	}
	if _, err := newSchedulerClient(&rest.Config{}, &Options{SchedulerEndpoint: "http://plain"}, nil); err == nil {
		t.Error("an endpoint without TLS is accepted")
	}
}
