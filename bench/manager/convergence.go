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

// convergence measures how long a change of the configuration takes until it has reached every node.
func (f *fleet) convergence(ctx context.Context) ([]figure, error) {
	var seconds, rates, cpu, controlPlane []float64
	from, to := shipped, changed
	for range f.chosen.runs {
		took, used, err := f.converge(ctx, from, to)
		if err != nil {
			return nil, err
		}
		seconds = append(seconds, took.Seconds())
		rates = append(rates, used.requests/took.Seconds())
		cpu = append(cpu, used.cpu.Seconds())
		controlPlane = append(controlPlane, used.controlPlane.Seconds())
		from, to = to, from
	}
	of := fmt.Sprintf("%d nodes, median of %d", f.chosen.nodes, f.chosen.runs)
	return []figure{
		atMost(20, told("change of configuration, until the last node offers what follows from it and the last NodeSLO says it", median(seconds), "s", of)),
		told("the same, requests a second of koord-manager", median(rates), "/s", "as many as its default flags allow"),
		told("the same, CPU time of koord-manager", median(cpu), "s", ""),
		told("the same, CPU time of the API server and etcd", median(controlPlane), "s", fmt.Sprintf("on %d cores", runtime.NumCPU())),
	}, nil
}

// converge changes the configuration once.
func (f *fleet) converge(ctx context.Context, from, to thresholds) (time.Duration, usage, error) {
	used, err := f.manager.usage(ctx)
	if err != nil {
		return 0, usage{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	expected := f.ledger.expect((to.reclaim - from.reclaim) * nodeMilliCPU / 100)
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
	if err := f.ledger.settle(ctx, f.chosen.nodes); err != nil {
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

// verify checks what the NodeSLOs say; the watch has only told that each was changed.
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
