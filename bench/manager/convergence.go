package main

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

const configMap = "slo-controller-config"

// thresholds are what a change of the configuration changes, in percent: one shows in what nodes offer, the other in NodeSLOs.
type thresholds struct{ reclaim, suppress int64 }

// shipped are those of the chart, changed what each change alternates with. Ten percent of a node are more than the tenth of its
// offer below which a change may wait.
var shipped, changed = thresholds{60, 65}, thresholds{70, 70}

// changes of the shipped configuration that are measured, each there and back again: what they alter of every node.
var changes = []struct {
	name string
	to   thresholds
	// must is true for those with a bound.
	must bool
}{
	{"change of what NodeSLOs say, until the last does", thresholds{shipped.reclaim, changed.suppress}, true},
	{"change of what nodes offer, until the last does", thresholds{changed.reclaim, shipped.suppress}, true},
	{"change of both, until the last node and the last NodeSLO have followed", changed, false},
}

// convergence measures how long a change of the configuration takes until it has reached every node.
func (f *fleet) convergence(ctx context.Context) ([]figure, error) {
	var figures []figure
	for _, c := range changes {
		more, err := f.repeat(ctx, c.name, c.to, c.must)
		figures = append(figures, more...)
		if err != nil {
			return figures, err
		}
	}
	return figures, nil
}

// repeat makes a change and takes it back, as often as there are runs and at least once each.
func (f *fleet) repeat(ctx context.Context, name string, to thresholds, must bool) ([]figure, error) {
	var seconds, rates, cpu, controlPlane []float64
	from := shipped
	for i := range 2 * ((f.chosen.runs + 1) / 2) {
		took, used, err := f.converge(ctx, from, to)
		if err != nil {
			return nil, fmt.Errorf("%s, run %d: %w", name, i+1, err)
		}
		say("%s: %.1f s", name, took.Seconds())
		seconds = append(seconds, took.Seconds())
		rates = append(rates, used.requests/took.Seconds())
		cpu = append(cpu, used.cpu.Seconds())
		controlPlane = append(controlPlane, used.controlPlane.Seconds())
		from, to = to, from
	}
	whole := measurement(name, median(seconds), "s", fmt.Sprintf("%d nodes, median of %d", f.chosen.nodes, len(seconds)))
	if must {
		whole = atMost(20, whole)
	}
	return []figure{
		whole,
		measurement("the same, requests a second of koord-manager", median(rates), "/s", ""),
		measurement("the same, CPU time of koord-manager", median(cpu), "s", ""),
		measurement("the same, CPU time of the API server and etcd", median(controlPlane), "s", fmt.Sprintf("on %d cores", runtime.NumCPU())),
	}, nil
}

// converge changes the configuration once.
func (f *fleet) converge(ctx context.Context, from, to thresholds) (time.Duration, usage, error) {
	used, err := f.manager.usage(ctx)
	if err != nil {
		return 0, usage{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, waitTimeout)
	defer cancel()
	expected := f.ledger.expect((to.reclaim-from.reclaim)*nodeMilliCPU/100, to.suppress != from.suppress)
	began := time.Now()
	if err := f.configure(ctx, to); err != nil {
		return 0, usage{}, err
	}
	select {
	case <-expected.done:
	case <-ctx.Done():
		return 0, usage{}, fmt.Errorf("%s: %w", f.ledger.missing(expected), context.Cause(ctx))
	}
	now, err := f.manager.usage(ctx)
	if err != nil {
		return 0, usage{}, err
	}
	if err := f.ledger.waitSettled(ctx, f.chosen.nodes); err != nil {
		return 0, usage{}, err
	}
	return expected.finished.Sub(began), now.minus(used), f.verify(ctx, to)
}

// configure sets the thresholds, all at once.
func (f *fleet) configure(ctx context.Context, to thresholds) error {
	configMaps := f.Client.CoreV1().ConfigMaps(systemNamespace)
	read, err := configMaps.Get(ctx, configMap, metav1.GetOptions{})
	if err != nil {
		return err
	}
	data := map[string]string{}
	for key, set := range map[string]struct {
		value int64
		path  []string
	}{
		"colocation-config":         {to.reclaim, []string{"cpuReclaimThresholdPercent"}},
		"resource-threshold-config": {to.suppress, []string{"clusterStrategy", "cpuSuppressThresholdPercent"}},
	} {
		if data[key], err = withNumber(read.Data[key], set.value, set.path...); err != nil {
			return fmt.Errorf("change %s: %w", key, err)
		}
	}
	body, err := json.Marshal(map[string]any{"data": data})
	if err != nil {
		return err
	}
	_, err = configMaps.Patch(ctx, configMap, types.MergePatchType, body, metav1.PatchOptions{})
	return err
}

// withNumber is a JSON document with a number set.
func withNumber(document string, value int64, path ...string) (string, error) {
	content := map[string]any{}
	if err := json.Unmarshal([]byte(document), &content); err != nil {
		return "", err
	}
	if err := unstructured.SetNestedField(content, value, path...); err != nil {
		return "", err
	}
	text, err := json.Marshal(content)
	return string(text), err
}

// verify checks the content of the NodeSLOs; the watch has only shown that each was changed.
func (f *fleet) verify(ctx context.Context, to thresholds) error {
	list, err := f.Dynamic.Resource(nodeSLOResource).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	if len(list.Items) != f.chosen.nodes {
		return fmt.Errorf("there are %d NodeSLOs for %d nodes", len(list.Items), f.chosen.nodes)
	}
	for _, slo := range list.Items {
		says, _, _ := unstructured.NestedInt64(slo.Object, "spec", "resourceUsedThresholdWithBE", "cpuSuppressThresholdPercent")
		if says != to.suppress { // 0 when it says nothing
			return fmt.Errorf("NodeSLO %q says %d %%, want %d", slo.GetName(), says, to.suppress)
		}
	}
	return nil
}
