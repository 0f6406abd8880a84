package loadaware

import (
	"strconv"
	"testing"
	"time"

	"koordinator.sh/koord/api/extension"
)

// busyInput is a node with fifty reported pods, five of them new.
func busyInput() (NodeInput, *Policy) {
	metric := newMetric("cpu", "50", "memory", "200Gi")
	in := NodeInput{Node: newNode(), Metric: metric}
	for i := range 50 {
		name := "pod-" + strconv.Itoa(i)
		metric.Status.PodsMetric = append(metric.Status.PodsMetric, reported(name, extension.PriorityProd, "cpu", "500m", "memory", "2Gi"))
		since := time.Hour
		if i < 5 {
			since = time.Second
		}
		in.Assigned = append(in.Assigned, AssignedPod{Pod: newPod(name, 9500, list("cpu", "1", "memory", "4Gi"), nil), AssignedAt: now.Add(-since)})
	}
	return in, NewPolicy(nil)
}

func BenchmarkFilter(b *testing.B) {
	in, policy := busyInput()
	call := Input{Policy: policy, Node: policy.Observe(in), Pod: policy.Estimate(newPod("incoming", 9500, list("cpu", "1", "memory", "1Gi"), nil)), Now: now}
	b.ReportAllocs()
	for b.Loop() {
		Filter(call, nil)
	}
}

func BenchmarkScore(b *testing.B) {
	in, policy := busyInput()
	call := Input{Policy: policy, Node: policy.Observe(in), Pod: policy.Estimate(newPod("incoming", 9500, list("cpu", "1", "memory", "1Gi"), nil)), Now: now}
	b.ReportAllocs()
	for b.Loop() {
		Score(call)
	}
}

func BenchmarkObserve(b *testing.B) {
	in, policy := busyInput()
	b.ReportAllocs()
	for b.Loop() {
		policy.Observe(in)
	}
}

func TestFilterAndScoreDoNotAllocate(t *testing.T) {
	in, policy := busyInput()
	call := Input{Policy: policy, Node: policy.Observe(in), Pod: policy.Estimate(newPod("incoming", 9500, list("cpu", "1", "memory", "1Gi"), nil)), Now: now}
	if allocations := testing.AllocsPerRun(100, func() { Filter(call, nil); Score(call) }); allocations != 0 {
		t.Errorf("%v allocations, want none", allocations)
	}
}
