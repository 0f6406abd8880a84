package device

import (
	"testing"
)

func benchmarkInput(b *testing.B, pairs ...string) Input {
	held := []Held{share(b, 0, 50), share(b, 1, 30), whole(b, gpuType, 2)}
	return Input{Ledger: eight().ledger(held...), Request: mustParse(b, podOf(pairs...)), Policy: defaults}
}

func BenchmarkFits(b *testing.B) {
	for name, pairs := range map[string][]string{"Whole": {"nvidia.com/gpu", "2"}, "Share": {"koordinator.sh/gpu", "50"}, "Memory": {"koordinator.sh/gpu-memory", "8Gi"}} {
		b.Run(name, func(b *testing.B) {
			in := benchmarkInput(b, pairs...)
			b.ReportAllocs()
			for b.Loop() {
				if refusal := Fits(in, nil); refusal != nil {
					b.Fatal(refusal)
				}
			}
		})
	}
}

func BenchmarkScore(b *testing.B) {
	in := benchmarkInput(b, "koordinator.sh/gpu", "50")
	b.ReportAllocs()
	for b.Loop() {
		Score(in)
	}
}

func BenchmarkNewLedger(b *testing.B) {
	node, held := DecodeNode(&eight().object), []Held{share(b, 0, 50), share(b, 1, 30), whole(b, gpuType, 2)}
	b.ReportAllocs()
	for b.Loop() {
		NewLedger(node, nil, held)
	}
}

func TestFitsDoesNotAllocate(t *testing.T) {
	if racing {
		t.Skip("the race detector allocates")
	}
	in := Input{Ledger: eight().ledger(share(t, 0, 50)), Request: mustParse(t, podOf("nvidia.com/gpu", "2")), Policy: defaults}
	Fits(in, nil)
	if allocations := testing.AllocsPerRun(200, func() { Fits(in, nil) }); allocations > 0 {
		t.Errorf("%v allocations", allocations)
	}
}
