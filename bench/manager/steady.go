package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// reportInterval is how often a node reports.
	reportInterval = time.Minute
	// memoryInterval is how often the memory is looked at.
	memoryInterval = 5 * time.Second
)

// steadyState measures what koord-manager uses while every node reports and nothing changes.
func (f *fleet) steadyState(ctx context.Context) ([]figure, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	earlier := f.ledger.counted()
	rate := float64(f.chosen.nodes) / reportInterval.Seconds()
	reports := int(rate * (f.chosen.warmUp + f.chosen.steady).Seconds())
	reported := make(chan error, 1)
	go func() {
		_, err := pace(ctx, rate, reports, f.report)
		if err != nil {
			cancel(err)
		}
		reported <- err
	}()
	figures, watchErr := f.look(ctx)
	if watchErr != nil {
		cancel(watchErr)
	}
	if err := errors.Join(<-reported, watchErr); err != nil {
		return nil, err
	}
	if err := f.ledger.waitSettled(ctx, f.chosen.nodes); err != nil {
		return nil, err
	}
	counted := f.ledger.counted()
	writes := counted[nodeMetrics] - earlier[nodeMetrics] - reports
	if writes < 0 {
		return nil, fmt.Errorf("the watch delivered %d of %d reports", counted[nodeMetrics]-earlier[nodeMetrics], reports)
	}
	return append(figures, atMost(0, measurement("the same, writes to NodeMetrics by others than the nodes", float64(writes), "", "counted by a watch, warm-up included"))), nil
}

// report is the next report of a node: a later time, and nothing else.
func (f *fleet) report(ctx context.Context, i int) error {
	body := fmt.Appendf(nil, `{"status":{"updateTime":%q}}`, time.Now().UTC().Format(time.RFC3339))
	_, err := f.metadata.Resource(nodeMetricResource).Patch(ctx, newNode(i%f.chosen.nodes).Name, types.MergePatchType, body, metav1.PatchOptions{}, "status")
	return err
}

// look measures what is used and written in the steady time after the warm-up.
func (f *fleet) look(ctx context.Context) ([]figure, error) {
	if err := pause(ctx, f.chosen.warmUp); err != nil {
		return nil, err
	}
	before, err := f.manager.usage(ctx)
	if err != nil {
		return nil, err
	}
	counted, began, largest := f.ledger.counted(), time.Now(), 0.0
	for time.Since(began) < f.chosen.steady {
		if err := pause(ctx, min(memoryInterval, f.chosen.steady-time.Since(began))); err != nil {
			return nil, err
		}
		proportional, err := f.manager.ProportionalMiB()
		if err != nil {
			return nil, err
		}
		largest = max(largest, proportional)
	}
	now, err := f.manager.usage(ctx)
	if err != nil {
		return nil, err
	}
	took, used, writes := time.Since(began), now.minus(before), f.ledger.counted()
	resident, err := f.manager.PeakMiB()
	if err != nil {
		return nil, err
	}
	const written = "counted by a watch"
	return []figure{
		atMost(0.25, measurement(fmt.Sprintf("steady state, %d NodeMetrics a minute, CPU of koord-manager", f.chosen.nodes), used.cpu.Seconds()/took.Seconds(), "cores", fmt.Sprintf("over %s", took.Round(time.Second)))),
		atMost(400, measurement("the same, largest proportional set of koord-manager", largest, "MiB", fmt.Sprintf("looked at every %s", memoryInterval))),
		atMost(400, measurement("the same, maximum resident set of koord-manager", resident, "MiB", "since its start")),
		measurement("the same, requests a second of koord-manager", used.requests/took.Seconds(), "/s", ""),
		atMost(0, measurement("the same, writes to nodes", float64(writes[nodes]-counted[nodes]), "", written)),
		atMost(0, measurement("the same, writes to NodeSLOs", float64(writes[nodeSLOs]-counted[nodeSLOs]), "", written)),
	}, nil
}
