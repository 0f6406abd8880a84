package integration

import (
	"fmt"
	"testing"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/flowcontrol"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/configmerge"
	"koordinator.sh/koord/sandbox/component"
	"koordinator.sh/koord/sandbox/pki"
	"koordinator.sh/koord/sandbox/state"
	"koordinator.sh/koord/test/sandboxtest"
)

// followed checks that the NodeSLOs of machines without pods, and what they offer, are what a configuration says.
func followed(t *testing.T, config configmerge.Config, names []string) error {
	t.Helper()
	for _, name := range names {
		node, err := client.CoreV1().Nodes().Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		slo, err := dynamicClient.Resource(sloResource).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if spec := as[slov1alpha1.NodeSLO](t, slo).Spec; specIn(spec, node, []configmerge.Config{config}, 0) < 0 {
			return fmt.Errorf("NodeSLO %s is not what the configuration says: %s", name, thresholds(spec))
		}
		if got, want := offerOf(node), intended(config, node, metricOf(t, name)); got != want {
			return fmt.Errorf("node %s offers %v, want %v", name, got, want)
		}
	}
	return nil
}

// leaseOfTheChart has a scheduler hold its lease for as long as one that is installed does.
func leaseOfTheChart(t *testing.T, config map[string]any) {
	for field, value := range map[string]string{"leaseDuration": "15s", "renewDeadline": "10s", "retryPeriod": "2s"} {
		set(t, config, value, "leaderElection", field)
	}
}

// TestTheAPIServerServesLeasesFirst asks as the components do and reads from the answers by which FlowSchema they were classified.
func TestTheAPIServerServesLeasesFirst(t *testing.T) {
	for _, name := range []string{component.Manager, component.Scheduler} {
		config, err := clientcmd.BuildConfigFromFlags("", pki.KubeconfigFile(state.At(shared.Directory()), name))
		if err != nil {
			t.Fatal(err)
		}
		asking, err := rest.HTTPClientFor(config)
		if err != nil {
			t.Fatal(err)
		}
		for path, want := range map[string][2]string{
			"/apis/coordination.k8s.io/v1/namespaces/" + systemNamespace + "/leases/" + managerLease: {"koordinator-leader-election", "leader-election"},
			"/api/v1/nodes/sim-0001": {"koordinator", "workload-high"},
		} {
			response, err := asking.Get(config.Host + path)
			if err != nil {
				t.Fatal(err)
			}
			_ = response.Body.Close() // only its headers are read
			schema, err := client.FlowcontrolV1().FlowSchemas().Get(t.Context(), want[0], metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if got := response.Header.Get(flowcontrolv1.ResponseHeaderMatchedFlowSchemaUID); got != string(schema.UID) {
				t.Errorf("%s gets %s by FlowSchema %s, want %s (%s)", name, path, got, want[0], schema.UID)
			}
			if got := schema.Spec.PriorityLevelConfiguration.Name; got != want[1] {
				t.Errorf("FlowSchema %s is of priority level %s, want %s", want[0], got, want[1])
			}
		}
	}
}

// TestThrottledComponentsLoseNothing has the API server refuse what the scheduler and the manager ask, first all and then most
// of it, and their watches start again under that: pods are bound, and each once; offers and NodeSLOs follow a change; and nobody
// gives up.
func TestThrottledComponentsLoseNothing(t *testing.T) {
	const name, pool, alive = "it-throttled", "throttled", 4
	backToTheSandbox(t)
	before := keepConfiguration(t)
	watcher := observe(t)
	names, idle := machines(t, pool, 2), machines(t, pool+"-idle", 2) // pods come and go on the former, and with them offers
	namespace := space(t, "inv-throttled")
	elastic(t, namespace, namespace, "", "4", "40")
	ofScheduler, toScheduler, schedulerFile := startThrottle(t)
	ofManager, toManager, throttledFile := startThrottle(t)
	own := startScheduler(t, name, through(schedulerFile), leaseOfTheChart)
	manager := startManager(t, throttledFile)
	replace := suspend(t)
	vacate(t)
	awaitLeader(t, manager.webhooks)
	replace()
	awaitRolledOut(t, parsed(t, before), names)
	stop := background(t, churn{namespace, pool, alive, corePod, "cpu"}.placedBy(name).run)
	awaitSome(t, namespace)
	first := own.process()

	for _, one := range []*throttle{ofScheduler, ofManager} {
		one.limit(flowcontrol.NewFakeNeverRateLimiter())
	}
	toScheduler.cut()
	toManager.cut()
	ofScheduler.awaitRefused(t, 30)
	ofManager.awaitRefused(t, 30)
	ofScheduler.limit(flowcontrol.NewTokenBucketRateLimiter(20, 20))
	ofManager.limit(flowcontrol.NewTokenBucketRateLimiter(5, 5))
	next := changed(t, before, map[string]any{"cpuReclaimThresholdPercent": 50}, map[string]any{"enable": true, "cpuSuppressThresholdPercent": 44})
	if err := editConfiguration(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	sandboxtest.Eventually(t, patience, func() error { return followed(t, parsed(t, next), idle) })
	awaitBindings(t, watcher, 8)
	stop()
	for _, one := range []*throttle{ofScheduler, ofManager} {
		one.limit(nil)
	}
	awaitBound(t, patience, namespace, alive, 0)
	select {
	case <-manager.ended:
		t.Error("the manager ended")
	default:
	}
	if own.process() != first {
		t.Error("the scheduler ended, and another one followed")
	}
	for path, count := range ofScheduler.bindings() {
		if count != 1 {
			t.Errorf("%s succeeded %d times", path, count)
		}
	}
	t.Logf("%d requests of the scheduler were refused and %d of the manager, %d pods were bound", ofScheduler.count(), ofManager.count(), len(ofScheduler.bindings()))
	quotaCounts(t, namespace)
	agrees(t, watcher, own, namespace, names)
	toTheLastCPU(t, names, pool, own.places)
}
