package integration

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"koordinator.sh/koord/api/configuration"
	"koordinator.sh/koord/decision/core/configmerge"
	"koordinator.sh/koord/sandbox/component"
	"koordinator.sh/koord/test/sandboxtest"
)

var (
	configMapResource = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	eventResource     = schema.GroupVersionResource{Group: "events.k8s.io", Version: "v1", Resource: "events"}
)

// told counts the events about the configuration that a history has, by type.
func told(t *testing.T, h *history) map[string]int {
	t.Helper()
	out := map[string]int{}
	for _, versions := range h.catchUp(t) {
		object := versions[0].Object
		about, _ := object["regarding"].(map[string]any)
		if about["name"] != configName {
			continue
		}
		out[fmt.Sprint(object["type"])]++
	}
	return out
}

// lastGood is what the manager keeps of the configuration.
func lastGood(t *testing.T) *corev1.ConfigMap {
	t.Helper()
	kept, err := client.CoreV1().ConfigMaps(systemNamespace).Get(t.Context(), configName+"-last-good", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return kept
}

// edits are so many configurations with different values. Thresholds come and go, and every second one shares a value with the
// one before the last, so that a change that is made out as the difference to an older one shows. The offer of the last is far
// from all others.
func edits(t *testing.T, before map[string]string, count int) []map[string]string {
	t.Helper()
	var out []map[string]string
	for i := range count {
		threshold := map[string]any{"enable": i%2 == 0, "cpuSuppressThresholdPercent": 10 + i*37%80}
		if i%3 != 0 {
			threshold["memoryEvictThresholdPercent"], threshold["memoryEvictLowerPercent"] = 60+i*7%30, 20+i*11%35
		}
		if i%5 != 0 {
			threshold["cpuEvictThresholdPercent"] = 50 + i*13%50
		}
		reclaim := map[string]any{"cpuReclaimThresholdPercent": 40 + i*37%60, "memoryReclaimThresholdPercent": 45 + 30*(i%2)}
		if i == count-1 {
			reclaim = map[string]any{"cpuReclaimThresholdPercent": 20, "memoryReclaimThresholdPercent": 20}
		}
		out = append(out, changed(t, before, reclaim, threshold))
	}
	return out
}

// lagging keeps back for a while what the watches of nodes and NodeSLOs say.
type lagging struct {
	http.RoundTripper
	by time.Duration
}

// RoundTrip sends a request on, and has watches of nodes and NodeSLOs answered late.
func (l lagging) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := l.RoundTripper.RoundTrip(r)
	if err == nil && r.URL.Query().Get("watch") != "" && (strings.HasSuffix(r.URL.Path, "/nodes") || strings.HasSuffix(r.URL.Path, "/nodeslos")) {
		response.Body = &lateBody{response.Body, r.Context(), l.by}
	}
	return response, err
}

// lateBody gives what it reads a while later.
type lateBody struct {
	io.ReadCloser
	ctx context.Context
	by  time.Duration
}

// Read reads what is there, and returns it a while later.
func (b *lateBody) Read(into []byte) (int, error) {
	n, err := b.ReadCloser.Read(into)
	select {
	case <-b.ctx.Done():
	case <-time.After(b.by):
	}
	return n, err
}

// TestAHundredEditsAtOnceEndInTheLast edits the configuration a hundred times as fast as the API server takes it, under a
// manager that learns late of what it has written itself. Every object is of one edit and of no mixture all along and never
// goes back, and the last edit is what stays.
func TestAHundredEditsAtOnceEndInTheLast(t *testing.T) {
	const pool, count = "edited", 100
	backToTheSandbox(t)
	before := keepConfiguration(t)
	names := machines(t, pool, 3)
	awaitRolledOut(t, parsed(t, before), names)
	middle, kubeconfig := startProxy(t)
	middle.forward.Transport = lagging{middle.forward.Transport, 150 * time.Millisecond}
	late := startManager(t, kubeconfig)
	suspend(t)
	vacate(t)
	awaitLeader(t, late.webhooks)
	texts := append([]map[string]string{before}, edits(t, before, count)...)
	var configs []configmerge.Config
	for _, text := range texts {
		configs = append(configs, parsed(t, text))
	}
	slos, nodes := follow(t, sloResource, ""), follow(t, nodeResource, "")
	kept, events := follow(t, configMapResource, systemNamespace), follow(t, eventResource, systemNamespace)
	toldBefore := told(t, events)

	began := time.Now()
	for _, text := range texts[1:] {
		if err := editConfiguration(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	took := time.Since(began)
	awaitRolledOut(t, configs[count], names)
	writes := wholeSpecs(t, slos, configs)
	versions := nodes.catchUp(t)
	changes := 0
	for _, name := range names {
		changes += wholeOffers(t, versions[name], offersOf(t, name, configs))
	}
	if diff := cmp.Diff(map[string]int{}, subtract(told(t, events), toldBefore)); diff != "" {
		t.Errorf("events about sound edits (-want +got):\n%s", diff)
	}
	sandboxtest.Eventually(t, patience, func() error {
		if diff := cmp.Diff(known(texts[count]), known(lastGood(t).Data)); diff != "" {
			return fmt.Errorf("what is kept of the configuration (-want +got):\n%s", diff)
		}
		return nil
	})
	copies := len(kept.catchUp(t)[configName+"-last-good"]) - 1
	all := len(slos.catchUp(t))
	t.Logf("%d edits in %s: %d writes of %d NodeSLOs, %d changes of %d offers, %d writes of what is kept", count, took, writes, all, changes, len(names), copies)
	if copies > count || writes > count*all || changes > count*len(names) {
		t.Error("something was written more often than it was edited")
	}
}

func subtract(from, what map[string]int) map[string]int {
	out := maps.Clone(from)
	for key, count := range what {
		if out[key] -= count; out[key] == 0 {
			delete(out, key)
		}
	}
	return out
}

// known are the keys of a configuration that this version reads.
func known(data map[string]string) map[string]string {
	out := maps.Clone(data)
	maps.DeleteFunc(out, func(key, _ string) bool { return !slices.Contains(configuration.Keys(), key) })
	return out
}

// garbled is a configuration of which no key can be read.
func garbled() map[string]string {
	out := map[string]string{}
	for i, key := range configuration.Keys() {
		out[key] = []string{`{"enable": false, `, `[]`, `null null`, "\x01\x02", `{"clusterStrategy": 7, "nodeConfigs": 7, "enable": "no"}`}[i%5]
	}
	out["colocation-config"] = `{"enable": false, "cpuReclaimThresholdPercent": -7}`
	out["resource-threshold-config"] = `{"clusterStrategy": {"enable": "perhaps"}}`
	return out
}

// slipIn writes a configuration that admission refuses.
func slipIn(t *testing.T, data map[string]string) {
	t.Helper()
	unreviewed(t, func() error { return editConfiguration(t.Context(), data) })
}

// unreviewed does what admission refuses, while the manager is killed and no webhook reviews it.
func unreviewed(t *testing.T, do func() error) {
	t.Helper()
	sandboxtest.Eventually(t, patience, func() error {
		manager := componentOf(t, component.Manager)
		if manager.PID <= 0 {
			return fmt.Errorf("the manager is %s", manager.Phase)
		}
		if err := syscall.Kill(manager.PID, syscall.SIGKILL); err != nil {
			return err
		}
		return do()
	})
	vacate(t)
}

// TestAConfigurationThatIsGarbageOrGone has every key become garbage while the manager is down, then deletes the ConfigMap
// likewise, and then brings it back.
func TestAConfigurationThatIsGarbageOrGone(t *testing.T) {
	const pool = "garbled"
	before := keepConfiguration(t)
	chosen := changed(t, before, map[string]any{"cpuReclaimThresholdPercent": 50}, map[string]any{"enable": true, "cpuSuppressThresholdPercent": 44})
	config := parsed(t, chosen)
	names := machines(t, pool, 2)
	if err := editConfiguration(t.Context(), chosen); err != nil {
		t.Fatal(err)
	}
	awaitRolledOut(t, config, names)
	sandboxtest.Eventually(t, patience, func() error {
		if diff := cmp.Diff(known(chosen), known(lastGood(t).Data)); diff != "" {
			return errors.New(diff)
		}
		return nil
	})
	slos, nodes, events := follow(t, sloResource, ""), follow(t, nodeResource, ""), follow(t, eventResource, systemNamespace)
	toldBefore := told(t, events)

	awaitAdmission(t)
	if err := editConfiguration(t.Context(), garbled()); !apierrors.IsForbidden(err) {
		t.Errorf("garbage is admitted while the manager is there: %v", err)
	}
	slipIn(t, garbled())
	_, problems := configmerge.Parse(garbled())
	t.Run("the last valid one stays, and a manager that starts anew knows it", func(t *testing.T) {
		sandboxtest.Eventually(t, patience, func() error {
			text := lastGood(t).Annotations["config.koordinator.sh/problems"]
			for _, key := range configuration.Keys() {
				if !strings.Contains(text, key) {
					return fmt.Errorf("the problems of %s are not told: %q", key, text)
				}
			}
			return nil
		})
		awaitRolledOut(t, config, names)
		if diff := cmp.Diff(known(chosen), known(lastGood(t).Data)); diff != "" {
			t.Errorf("what is kept of the configuration (-want +got):\n%s", diff)
		}
		if writes := wholeSpecs(t, slos, []configmerge.Config{config}); writes != 0 {
			t.Errorf("%d NodeSLOs were written because of garbage", writes)
		}
		for _, name := range names {
			if changes := wholeOffers(t, nodes.catchUp(t)[name], offersOf(t, name, []configmerge.Config{config})); changes != 0 {
				t.Errorf("node %s changed its offer because of garbage", name)
			}
		}
		sandboxtest.Eventually(t, patience, func() error {
			if got := subtract(told(t, events), toldBefore)[corev1.EventTypeWarning]; got == 0 || got > len(problems) {
				return fmt.Errorf("%d warnings about %d problems", got, len(problems))
			}
			return nil
		})
	})
	t.Run("deleted, it stays in force", func(t *testing.T) {
		remove := func() error {
			return client.CoreV1().ConfigMaps(systemNamespace).Delete(t.Context(), configName, metav1.DeleteOptions{})
		}
		awaitAdmission(t)
		if err := remove(); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "KOORD0217") {
			t.Errorf("deleted while the manager is there: %v; want that it is refused with KOORD0217", err)
		}
		unreviewed(t, remove)
		sandboxtest.Eventually(t, patience, func() error {
			if text := lastGood(t).Annotations["config.koordinator.sh/problems"]; !strings.Contains(text, "KOORD0204") {
				return fmt.Errorf("the problems are %q, want that the ConfigMap is missing", text)
			}
			return nil
		})
		if diff := cmp.Diff(known(chosen), known(lastGood(t).Data)); diff != "" {
			t.Errorf("what is kept of the configuration (-want +got):\n%s", diff)
		}
		if writes := wholeSpecs(t, slos, []configmerge.Config{config}); writes != 0 {
			t.Errorf("%d NodeSLOs were written because the ConfigMap is gone", writes)
		}
		for _, name := range names {
			if changes := wholeOffers(t, nodes.catchUp(t)[name], offersOf(t, name, []configmerge.Config{config})); changes != 0 {
				t.Errorf("node %s changed its offer because the ConfigMap is gone", name)
			}
		}
	})
	t.Run("rolled back, it is there again", func(t *testing.T) {
		result, err := shared.Koordctl(t.Context(), "config", "rollback", "--yes")
		if err != nil || result.Code != 0 {
			t.Fatalf("config rollback: %v, %s%s", err, result.Stdout, result.Stderr)
		}
		found, err := client.CoreV1().ConfigMaps(systemNamespace).Get(t.Context(), configName, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(known(chosen), known(found.Data)); diff != "" {
			t.Errorf("the ConfigMap (-want +got):\n%s", diff)
		}
		awaitRolledOut(t, config, names)
		wholeSpecs(t, slos, []configmerge.Config{config})
	})
}
