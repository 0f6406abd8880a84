package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"
	controllerconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
	"koordinator.sh/koord/controllers/noderesource"
	"koordinator.sh/koord/controllers/sloconfig"
)

// shiftedClock differs from the machine's by as much as it was set to. It is safe for concurrent use.
type shiftedClock struct{ by atomic.Int64 }

// Now is the time on this clock.
func (c *shiftedClock) Now() time.Time { return time.Now().Add(time.Duration(c.by.Load())) }

// Since is how long ago a time was on this clock.
func (c *shiftedClock) Since(at time.Time) time.Duration { return c.Now().Sub(at) }

func (c *shiftedClock) set(by time.Duration) { c.by.Store(int64(by)) }

// startShifted has the manager's controller of what nodes offer lead in the place of the sandbox's manager, with a clock of the
// test's own, until the test ends.
func startShifted(t *testing.T) *shiftedClock {
	t.Helper()
	backToTheSandbox(t)
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, slov1alpha1.AddToScheme, schedulingv1alpha1.AddToScheme, topologyv1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	options := sloconfig.Options{Store: sloconfig.NewStore()}
	object, byNamespace := sloconfig.ByObject(options)
	byObject := map[ctrlclient.Object]cache.ByObject{object: byNamespace}
	maps.Copy(byObject, noderesource.ByObject())
	mgr, err := ctrl.NewManager(administrator(t), ctrl.Options{
		Scheme: scheme, Cache: cache.Options{ByObject: byObject}, Metrics: metricsserver.Options{BindAddress: "0"},
		LeaderElection: true, LeaderElectionID: managerLease, LeaderElectionNamespace: systemNamespace, LeaderElectionReleaseOnCancel: true,
		Controller: controllerconfig.Controller{SkipNameValidation: new(true)},
	})
	if err != nil {
		t.Fatal(err)
	}
	shifted, predictions := &shiftedClock{}, noderesource.NewPredictions()
	t.Cleanup(func() { metrics.Registry.Unregister(predictions) })
	if err := sloconfig.AddToManager(mgr, options); err != nil {
		t.Fatal(err)
	}
	if err := noderesource.AddToManager(t.Context(), mgr, noderesource.Options{Config: options.Store, Clock: shifted, Predictions: predictions}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	replace := suspend(t)
	vacate(t)
	go func() { ended <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	select {
	case <-mgr.Elected():
	case <-time.After(patience):
		t.Fatal("the controller of the test does not lead")
	}
	replace() // the sandbox's next manager answers for admission and does not lead
	return shifted
}

// withReports has the nodes of a pool report every few seconds, so that a report that is two intervals ahead is a few seconds ahead.
func withReports(t *testing.T, data map[string]string, pool string, seconds, reclaim int) map[string]string {
	t.Helper()
	document := map[string]any{}
	if err := json.Unmarshal([]byte(data["colocation-config"]), &document); err != nil {
		t.Fatal(err)
	}
	others, _ := document["nodeConfigs"].([]any)
	return changed(t, data, map[string]any{"cpuReclaimThresholdPercent": reclaim, "nodeConfigs": append([]any{map[string]any{
		"name": pool, "nodeSelector": map[string]any{"matchLabels": map[string]any{"pool": pool}},
		"cpuReclaimThresholdPercent": reclaim, "metricReportIntervalSeconds": seconds, "degradeTimeMinutes": 1,
	}}, others...)}, map[string]any{"enable": true})
}

// TestClocksThatDifferRaiseNoOffer shifts the clocks of agents, and that of the manager, by seconds and by an hour, ahead and
// behind. By seconds nothing is withdrawn anywhere, and what is offered follows the configuration and the use as it does when
// clocks agree; by an hour nothing is offered, whatever the reports say.
func TestClocksThatDifferRaiseNoOffer(t *testing.T) {
	const pool, step = "shifted", 5 * time.Second
	before := keepConfiguration(t)
	names := machines(t, pool, 2)
	shifted := startShifted(t)
	nodes := follow(t, nodeResource, "")
	data := withReports(t, before, pool, 4, 60)
	if err := editConfiguration(t.Context(), data); err != nil {
		t.Fatal(err)
	}
	// offered waits until the machines offer what a report allows by clocks that agree, or nothing.
	offered := func(ahead time.Duration, cpu, memory string, nothing bool) (want offer) {
		t.Helper()
		m, config := measurement{-ahead, cpu, memory}, parsed(t, data)
		for _, name := range names {
			awaitNode(t, name, func(node *corev1.Node) error {
				if err := m.report(t.Context(), name); err != nil {
					return err
				}
				agreed := metricOf(t, name)
				agreed.Status.UpdateTime.Time = time.Now()
				want = intended(config, node, agreed)
				got := offerOf(node)
				if nothing && got[0] <= 0 && got[1] <= 0 || !nothing && got[0] == want[0] && got[1] == want[1] {
					return nil
				}
				return fmt.Errorf("node %s offers %v by a report %s ahead and a manager %s ahead, want %v or nothing (%t)",
					name, got, ahead, time.Duration(shifted.by.Load()), want, nothing)
			})
		}
		return want
	}
	most := offered(0, "100m", "1Gi", false)
	began := map[string]int{}
	for name, versions := range nodes.catchUp(t) {
		began[name] = len(versions) - 1
	}
	reclaim := 60
	for _, by := range []time.Duration{step, -step} {
		offered(by, "4", "16Gi", false)
		offered(by, "100m", "1Gi", false)
		shifted.set(by)
		offered(0, "4", "16Gi", false)
		reclaim -= 10 // has all nodes of the cluster looked at
		data = withReports(t, before, pool, 4, reclaim)
		if err := editConfiguration(t.Context(), data); err != nil {
			t.Fatal(err)
		}
		offered(0, "100m", "1Gi", false)
		shifted.set(0)
	}
	for name, versions := range nodes.catchUp(t) {
		if now := versions[began[name]:]; !slices.Contains(names, name) && withdrawnIn(t, now) {
			t.Errorf("node %s offered nothing any more although clocks differ by %s", name, step)
		}
	}

	// Busy nodes, whose reports say that they are idle: believed, they would be offered more.
	less := offered(0, "6", "32Gi", false)
	from := len(nodes.catchUp(t)[names[0]]) - 1
	offered(time.Hour, "100m", "1Gi", true)
	offered(-time.Hour, "100m", "1Gi", true)
	offered(0, "6", "32Gi", false)
	shifted.set(time.Hour)
	offered(0, "100m", "1Gi", true)
	shifted.set(0)
	offered(0, "6", "32Gi", false)
	shifted.set(-time.Hour)
	offered(0, "100m", "1Gi", true)
	for _, version := range nodes.catchUp(t)[names[0]][from:] {
		if got := offerOf(as[corev1.Node](t, version)); got[0] > less[0] || got[1] > less[1] {
			t.Errorf("node %s offers %v by clocks that differ by an hour, and %v by clocks that agree", names[0], got, less)
		}
	}
	shifted.set(0)
	if got := offered(0, "100m", "1Gi", false); got[1] != most[1] {
		t.Errorf("in the end the nodes offer %v, want the memory of %v", got, most)
	}
}

// withdrawnIn reports whether a node that offered batch resources offered none in a later version.
func withdrawnIn(t *testing.T, versions []*unstructured.Unstructured) bool {
	t.Helper()
	offers := func(version *unstructured.Unstructured) bool { return offerOf(as[corev1.Node](t, version))[0] >= 0 }
	return offers(versions[0]) && slices.ContainsFunc(versions, func(v *unstructured.Unstructured) bool { return !offers(v) })
}
