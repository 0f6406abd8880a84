package integration

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"koordinator.sh/koord/agent/connection"
	"koordinator.sh/koord/agent/koordlet"
	"koordinator.sh/koord/agent/report"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/test/sandboxtest"
)

// writes counts what a manager writes about some objects.
type writes struct {
	mutex sync.Mutex
	count map[string]int
}

func (w *writes) decide(r *http.Request) fate {
	if r.Method != http.MethodGet {
		w.mutex.Lock()
		defer w.mutex.Unlock()
		w.count[r.URL.Path]++
	}
	return pass
}

// of are the writes of NodeSLOs, NodeMetrics and nodes with some names, by path.
func (w *writes) of(names []string) map[string]int {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	out := map[string]int{}
	for path, n := range w.count {
		if slices.ContainsFunc(names, func(name string) bool { return strings.Contains(path, "/"+name) }) {
			out[path] = n
		}
	}
	return out
}

// measuredBy reports a measurement with the code of koordlet, with all that this release has to say.
func measuredBy(t *testing.T, node, cpu string) {
	t.Helper()
	clients, err := connection.New(administrator(t), "koordlet", koordlet.DefaultQPS)
	if err != nil {
		t.Fatal(err)
	}
	amount := func(cpu, memory string) slov1alpha1.ResourceMap {
		return slov1alpha1.ResourceMap{ResourceList: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}}
	}
	now := metav1.NewTime(time.Now())
	if err := report.NewWriter(clients.SLOWrites).Write(t.Context(), node, &slov1alpha1.NodeMetricStatus{
		UpdateTime: &now, NodeMetric: &slov1alpha1.NodeMetricInfo{NodeUsage: amount(cpu, "1Gi"), SystemUsage: amount("100m", "512Mi")},
		ProdReclaimableMetric: &slov1alpha1.ReclaimableMetric{Resource: amount("2", "4Gi")},
	}); err != nil {
		t.Fatal(err)
	}
}

// TestDefinitionsOfAnotherReleaseAreLivedWith has the definitions of NodeSLO and NodeMetric be of an older release, which knows
// fewer fields and drops the rest, and of a newer one, which sets a field that is unknown here: what is known follows the
// configuration and the reports, and nothing is written again and again because it does not come back as it was sent. API servers
// of other minor versions of Kubernetes are in test/skew.
func TestDefinitionsOfAnotherReleaseAreLivedWith(t *testing.T) {
	const pool = "skewed"
	backToTheSandbox(t)
	before := keepConfiguration(t)
	names := machines(t, pool, 2)
	middle, kubeconfig := startProxy(t)
	written := &writes{count: map[string]int{}}
	middle.rule(written.decide)
	counting := startManager(t, kubeconfig)
	replace := suspend(t)
	vacate(t)
	awaitLeader(t, counting.webhooks)
	replace()
	slo := func(name string) map[string]any {
		object, err := dynamicClient.Resource(sloResource).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		spec, _, _ := unstructured.NestedMap(object.Object, "spec")
		return spec
	}
	// follows checks that the nodes get what is known of a configuration, that they offer what a report allows, and that all is
	// quiet then.
	follows := func(t *testing.T, threshold int, wantLater any) {
		t.Helper()
		data := changed(t, before, map[string]any{"cpuReclaimThresholdPercent": threshold}, map[string]any{"enable": true, "cpuSuppressThresholdPercent": threshold, "memoryEvictThresholdPercent": 80})
		data["system-config"] = `{"clusterStrategy":{"watermarkScaleFactor":200}}`
		if err := editConfiguration(t.Context(), data); err != nil {
			t.Fatal(err)
		}
		config := parsed(t, data)
		sandboxtest.Eventually(t, patience, func() error {
			for _, name := range names {
				measuredBy(t, name, "1")
				spec := slo(name)
				if got, _, _ := unstructured.NestedInt64(spec, "resourceUsedThresholdWithBE", "cpuSuppressThresholdPercent"); got != int64(threshold) {
					return fmt.Errorf("NodeSLO %s has cpuSuppressThresholdPercent %d, want %d", name, got, threshold)
				}
				if got := spec["fieldOfALaterRelease"]; got != wantLater {
					return fmt.Errorf("NodeSLO %s has a field of a later release %v, want %v", name, got, wantLater)
				}
				node, err := client.CoreV1().Nodes().Get(t.Context(), name, metav1.GetOptions{})
				if err != nil {
					return err
				}
				if diff := cmp.Diff(intended(config, node, metricOf(t, name)), offerOf(node)); diff != "" {
					return fmt.Errorf("node %s offers (-want +got):\n%s", name, diff)
				}
			}
			return nil
		})
		// What was written is seen as a change and reconciled once more, with one more write when a definition drops fields of it.
		sandboxtest.Eventually(t, patience, func() error {
			quiet := written.of(names)
			leaseRenewals(t, 3)
			if diff := cmp.Diff(quiet, written.of(names)); diff != "" {
				return fmt.Errorf("the manager writes more about nodes of which nothing changed:\n%s", diff)
			}
			return nil
		})
	}
	all := offerAfter(t, func() { follows(t, 50, nil) }, names[0])

	t.Run("older", func(t *testing.T) {
		redefine(t, "nodeslos.slo.koordinator.sh", olderSchema("spec", "systemStrategy", "resourceUsedThresholdWithBE/properties/memoryEvictThresholdPercent"))
		redefine(t, "nodemetrics.slo.koordinator.sh", olderSchema("status", "prodReclaimableMetric", "prodPeakMetric"))
		got := offerAfter(t, func() { follows(t, 60, nil) }, names[0])
		if got[2] > all[2] || got[3] > all[3] {
			t.Errorf("a node whose prediction is not stored offers %v, more than %v", got, all)
		}
		spec := slo(names[0])
		if _, there := spec["systemStrategy"]; there {
			t.Errorf("the definition is not older: NodeSLO %v", spec)
		}
	})
	t.Run("newer", func(t *testing.T) {
		redefine(t, "nodeslos.slo.koordinator.sh", newerSchema("spec"))
		redefine(t, "nodemetrics.slo.koordinator.sh", newerSchema("status"))
		follows(t, 40, "later")
		metric, err := dynamicClient.Resource(metricResource).Get(t.Context(), names[0], metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got, _, _ := unstructured.NestedString(metric.Object, "status", "fieldOfALaterRelease"); got != "later" {
			t.Errorf("the NodeMetric has a field of a later release %q", got)
		}
	})
	t.Run("its own again", func(t *testing.T) { follows(t, 65, "later") })
}

// offerAfter is what a node offers after something was done.
func offerAfter(t *testing.T, do func(), name string) offer {
	t.Helper()
	do()
	node, err := client.CoreV1().Nodes().Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return offerOf(node)
}
