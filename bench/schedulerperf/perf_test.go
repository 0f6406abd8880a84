package schedulerperf

import (
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"
	kubescheduler "k8s.io/kubernetes/pkg/scheduler"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	perf "k8s.io/kubernetes/test/integration/scheduler_perf"
	"k8s.io/kubernetes/test/utils/ktesting"

	"koordinator.sh/koord/scheduler/app"
)

const (
	// workloads is the file with what is measured, and the thresholds.
	workloads = "workloads.yaml"
	// topic names the results.
	topic = "koord-scheduler"
)

// BenchmarkPerfScheduling fails when a workload is slower than its threshold, or ends with a cluster that must not be.
// With -short it runs the workloads that are labelled short, and otherwise the others. -benchtime must be 1ns: how much is
// measured is the workload's own affair.
func BenchmarkPerfScheduling(b *testing.B) {
	if !testing.Short() {
		perf.PerfSchedulingLabelFilter += ",-short"
	}
	// The engine takes one registry for all workloads, but what is in it belongs to the scheduler of one workload.
	registry := frameworkruntime.Registry{}
	var current *cluster
	perf.RunBenchmarkPerfScheduling(b, workloads, topic, registry,
		perf.WithPreRunFn(func(_ ktesting.TContext, w *perf.Workload) (func(), error) {
			current = &cluster{embedded: app.NewEmbedded(), workload: w}
			maps.Copy(registry, current.embedded.Registry())
			return current.embedded.Discard, nil // the workload may fail before the scheduler is extended
		}),
		perf.WithPrepareFn(createDefinitions),
		perf.WithNodeUpdateFn(func(tCtx ktesting.TContext, scheduler *kubescheduler.Scheduler, _ *perf.Workload, nodes *corev1.NodeList) error {
			return current.update(tCtx, scheduler, nodes)
		}),
	)
}
