package integration

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/configmerge"
	"koordinator.sh/koord/test/sandboxtest"
)

// part has a proxy let only the first writes of NodeSLOs and of offers through, and do something else with the others.
type part struct {
	mutex sync.Mutex
	// slos and offers are how many more may pass.
	slos, offers int
	// then is what becomes of the others.
	then fate
	// stopped counts them.
	stoppedSLOs, stoppedOffers int
}

func (p *part) decide(r *http.Request) fate {
	if r.Method != http.MethodPatch {
		return pass
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	left, stopped := &p.slos, &p.stoppedSLOs
	switch {
	case strings.Contains(r.URL.Path, "/nodeslos/"):
	case strings.HasPrefix(r.URL.Path, "/api/v1/nodes/") && strings.HasSuffix(r.URL.Path, "/status"):
		left, stopped = &p.offers, &p.stoppedOffers
	default:
		return pass
	}
	if *left > 0 {
		*left--
		return pass
	}
	*stopped++
	if p.then == lose && *stopped > 1 {
		return hold
	}
	return p.then
}

// await waits until writes of both kinds have been stopped.
func (p *part) await(t *testing.T) {
	t.Helper()
	sandboxtest.Eventually(t, patience, func() error {
		p.mutex.Lock()
		defer p.mutex.Unlock()
		if p.stoppedSLOs == 0 || p.stoppedOffers == 0 {
			return fmt.Errorf("%d writes of NodeSLOs and %d of offers were stopped, want both", p.stoppedSLOs, p.stoppedOffers)
		}
		return nil
	})
}

// halfway checks that some nodes have a configuration's NodeSLO and others do not.
func halfway(ctx context.Context, t *testing.T, config configmerge.Config) error {
	t.Helper()
	slos, err := dynamicClient.Resource(sloResource).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	reached := 0
	for i := range slos.Items {
		node, err := client.CoreV1().Nodes().Get(ctx, slos.Items[i].GetName(), metav1.GetOptions{})
		if err != nil {
			return err
		}
		if specIn(as[slov1alpha1.NodeSLO](t, &slos.Items[i]).Spec, node, []configmerge.Config{config}, 0) == 0 {
			reached++
		}
	}
	if reached == 0 || reached == len(slos.Items) {
		return fmt.Errorf("%d of %d NodeSLOs have the new configuration, want some", reached, len(slos.Items))
	}
	return nil
}

// TestManagersKilledDuringARolloutLeaveNoHalfState ends one leader after the other while it writes a configuration out: with
// some nodes written, with writes on their way, and with writes that succeeded but were never answered. Every object is of
// one configuration or of the other all along, and the last leader finishes.
func TestManagersKilledDuringARolloutLeaveNoHalfState(t *testing.T) {
	const pool = "rollout"
	backToTheSandbox(t)
	before := keepConfiguration(t)
	after := changed(t, before, map[string]any{"cpuReclaimThresholdPercent": 40, "memoryReclaimThresholdPercent": 30},
		map[string]any{"enable": true, "cpuSuppressThresholdPercent": 40, "memoryEvictThresholdPercent": 60, "memoryEvictLowerPercent": 50, "cpuEvictThresholdPercent": 70})
	configs := []configmerge.Config{parsed(t, before), parsed(t, after)}
	names := machines(t, pool, 4)
	awaitRolledOut(t, configs[0], names)
	slos, nodes := follow(t, sloResource, ""), follow(t, nodeResource, "")

	middle, kubeconfig := startProxy(t)
	first := startManager(t, kubeconfig)
	replace := suspend(t)
	vacate(t)
	awaitLeader(t, first.webhooks)
	second := startManager(t, kubeconfig)
	kept := &part{slos: 3, offers: 1, then: hold}
	middle.rule(kept.decide)
	if err := editConfiguration(t.Context(), after); err != nil {
		t.Fatal(err)
	}
	kept.await(t)
	if err := halfway(t.Context(), t, configs[1]); err != nil {
		t.Error(err)
	}
	first.kill(t)
	middle.cut()

	unanswered := &part{slos: 4, offers: 1, then: lose}
	middle.rule(unanswered.decide)
	vacate(t)
	unanswered.await(t)
	if err := halfway(t.Context(), t, configs[1]); err != nil {
		t.Error(err)
	}
	second.kill(t)
	middle.cut()
	middle.rule(nil)
	replace()
	vacate(t)
	awaitLeader(t, ownPort(t))
	awaitRolledOut(t, configs[1], names)

	wholeSpecs(t, slos, configs)
	versions := nodes.catchUp(t)
	for _, name := range names {
		if changes := wholeOffers(t, versions[name], offersOf(t, name, configs)); changes != 1 {
			t.Error(errors.New(name + " did not go from the one configuration to the other at once"))
		}
	}
}
