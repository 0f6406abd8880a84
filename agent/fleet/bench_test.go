package fleet

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"k8s.io/client-go/tools/cache"
	testclock "k8s.io/utils/clock/testing"

	"koordinator.sh/koord/agent/host"
	"koordinator.sh/koord/agent/report"
)

// benchAgents returns agents of nodes with so many service pods each.
func benchAgents(tb testing.TB, nodes, podsPerNode int, clock *testclock.FakeClock) []*agent {
	opts, err := Options{RESTConfig: (&apiServer{address: "unused:1"}).config(), Clock: clock}.withDefaults()
	if err != nil {
		tb.Fatal(err)
	}
	index := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{byNode: nodeOf})
	transform := recordPod(opts.timeline(), nil)
	agents := make([]*agent, nodes)
	for i := range agents {
		name := fmt.Sprintf("sim-%04d", i)
		node, _ := recordNode(testNode(name, nil))
		metric, _ := recordMetric(testMetric(name))
		agents[i] = newAgent(opts, index, node.(*nodeRecord), metric.(*metricRecord))
		for j := range podsPerNode {
			pod, _ := transform(testService(fmt.Sprintf("web-%d-%d", i, j), name))
			if err := index.Add(pod); err != nil {
				tb.Fatal(err)
			}
		}
	}
	return agents
}

// BenchmarkFirstReport is what a node costs when the fleet starts: half an hour of samples, a day of training, and the
// report itself.
func BenchmarkFirstReport(b *testing.B) {
	clock := testclock.NewFakeClock(noon)
	agents := benchAgents(b, b.N, 30, clock)
	var scratch host.Snapshot
	b.ReportAllocs()
	b.ResetTimer()
	for _, a := range agents {
		a.advance(noon, &scratch)
		if _, err := report.Patch(a.status(noon)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSample is one sample of a node with 30 pods.
func BenchmarkSample(b *testing.B) {
	clock := testclock.NewFakeClock(noon)
	a := benchAgents(b, 1, 30, clock)[0]
	var scratch host.Snapshot
	a.advance(noon, &scratch)
	a.nextTraining = noon.Add(1000 * time.Hour)
	now := noon
	b.ReportAllocs()
	for b.Loop() {
		now = now.Add(DefaultSamplePeriod)
		a.sample(now, &scratch)
	}
}

// BenchmarkTrain is one training of a node with 30 pods.
func BenchmarkTrain(b *testing.B) {
	clock := testclock.NewFakeClock(noon)
	a := benchAgents(b, 1, 30, clock)[0]
	var scratch host.Snapshot
	a.advance(noon, &scratch)
	b.ReportAllocs()
	for b.Loop() {
		a.train(a.lastSample())
	}
}

// BenchmarkReport is one report of a node with 30 pods, but for the network.
func BenchmarkReport(b *testing.B) {
	clock := testclock.NewFakeClock(noon)
	a := benchAgents(b, 1, 30, clock)[0]
	var scratch host.Snapshot
	a.advance(noon, &scratch)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := report.Patch(a.status(noon)); err != nil {
			b.Fatal(err)
		}
	}
}

// TestFleetFitsIntoMemory keeps a thousand nodes of thirty pods under 150 MB of live heap, of the 400 MB that the
// process may take.
func TestFleetFitsIntoMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const nodes, budget = 1000, 150 << 20
	clock := testclock.NewFakeClock(noon)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	agents := benchAgents(t, nodes, 30, clock)
	var scratch host.Snapshot
	for _, a := range agents {
		a.advance(noon, &scratch)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(agents)
	if used := after.HeapAlloc - before.HeapAlloc; used > budget {
		t.Errorf("%d nodes use %d MB, want %d at most", nodes, used>>20, budget>>20)
	} else {
		t.Logf("%d nodes use %d MB", nodes, used>>20)
	}
}
