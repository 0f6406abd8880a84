package configplan

import (
	"syscall"
	"testing"
	"time"
)

const (
	benchOld = `{"enable": true, "cpuReclaimThresholdPercent": 60, "nodeConfigs": [
		{"name": "gold", "nodeSelector": {"matchLabels": {"pool": "gold"}}, "cpuReclaimThresholdPercent": 50}]}`
	benchNew = `{"enable": true, "cpuReclaimThresholdPercent": 70, "nodeConfigs": [
		{"name": "gold", "nodeSelector": {"matchLabels": {"pool": "gold"}}, "cpuReclaimThresholdPercent": 40}]}`
)

func benchInput(t testing.TB) Input {
	old := parsed(t, map[string]string{"colocation-config": benchOld, "resource-threshold-config": `{"clusterStrategy": {"enable": true}}`})
	in := large(t, 5000, 30, old)
	in.New = parsed(t, map[string]string{"colocation-config": benchNew,
		"resource-threshold-config": `{"clusterStrategy": {"enable": true, "cpuSuppressThresholdPercent": 40, "memoryEvictThresholdPercent": 45}}`})
	return in
}

// BenchmarkPlan5000 plans a change of offers and thresholds for 5,000 nodes with 150,000 pods, of which every node and
// every batch pod is touched.
func BenchmarkPlan5000(b *testing.B) {
	in := benchInput(b)
	b.ReportAllocs()
	for b.Loop() {
		if plan := Of(in); plan.Summary.NodesAffected != 5000 {
			b.Fatalf("%d nodes affected", plan.Summary.NodesAffected)
		}
	}
}

// TestPlanOf5000NodesIsQuick keeps the plan of a large cluster well under the three seconds a person waits for it. CPU time
// is measured, of all CPUs together, so that a busy machine does not fail it.
func TestPlanOf5000NodesIsQuick(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a large cluster")
	}
	in := benchInput(t)
	before := cpuTime(t)
	plan := Of(in)
	if took := cpuTime(t) - before; took > 3*time.Second {
		t.Errorf("planning took %s of CPU", took)
	}
	if plan.Summary.NodesAffected != 5000 || plan.Summary.NodesUnconverged != 0 {
		t.Errorf("summary %+v", plan.Summary)
	}
}

func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
