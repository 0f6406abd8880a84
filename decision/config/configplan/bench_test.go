package configplan

import "testing"

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
