package deviceshare

import (
	"context"
	"fmt"
	"testing"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// BenchmarkFilter filters 1,024 nodes with 8 GPUs each, some of them in use.
func BenchmarkFilter(b *testing.B) {
	for name, pairs := range map[string][]string{
		"Whole": {"nvidia.com/gpu", "2"}, "Share": {"koordinator.sh/gpu", "50"}, "Plain": {"cpu", "1"},
	} {
		b.Run(name, func(b *testing.B) {
			f, names := benchmarkFixture(b)
			pod := newPod("pod", pairs...)
			state := f.preFilter(b, pod)
			for _, name := range names {
				f.plugin.Filter(context.Background(), state, pod, f.infos[name])
			}
			b.ReportAllocs()
			for b.Loop() {
				for _, name := range names {
					f.plugin.Filter(context.Background(), state, pod, f.infos[name])
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(names)), "ns/node")
		})
	}
}

// BenchmarkScore scores the same nodes.
func BenchmarkScore(b *testing.B) {
	f, names := benchmarkFixture(b)
	pod := newPod("pod", "koordinator.sh/gpu", "50")
	state := f.preFilter(b, pod)
	b.ReportAllocs()
	for b.Loop() {
		for _, name := range names {
			if _, status := f.plugin.Score(context.Background(), state, pod, f.infos[name]); !status.IsSuccess() {
				b.Fatal(status)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(names)), "ns/node")
}

// BenchmarkPreFilterPlain is what a pod without devices costs.
func BenchmarkPreFilterPlain(b *testing.B) {
	f, _ := benchmarkFixture(b)
	pod := newPod("pod", "cpu", "1", "memory", "1Gi")
	b.ReportAllocs()
	for b.Loop() {
		f.plugin.PreFilter(context.Background(), nil, pod, nil)
	}
}

func benchmarkFixture(b *testing.B) (*fixture, []string) {
	b.Helper()
	var devices []*schedulingv1alpha1.Device
	var names []string
	for i := range 1024 {
		names = append(names, fmt.Sprint("node-", i))
		devices = append(devices, newDevice(names[i]))
	}
	f := newFixture(b, "", devices...)
	for i, name := range names {
		f.holds(b, name, name, fmt.Sprintf(`{"gpu":[{"minor":%d,"resources":{"koordinator.sh/gpu-core":"50","koordinator.sh/gpu-memory-ratio":"50"}}]}`, i%8))
	}
	return f, names
}
