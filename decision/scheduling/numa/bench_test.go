package numa

import (
	"fmt"
	"testing"

	"koordinator.sh/koord/api/extension"
)

func BenchmarkFilter(b *testing.B) {
	for _, zones := range []int{2, 8} {
		for name, policy := range map[string]extension.NUMATopologyPolicy{"Bound": "", "SingleNUMANode": single, "Restricted": restricted, "BestEffort": bestEffort} {
			b.Run(fmt.Sprintf("%s-%d", name, zones), func(b *testing.B) {
				args := DefaultArgs()
				request, _ := RequestOf(newPod(lsr, aligned(policy), "cpu", "4", "memory", "1Gi"), args)
				in := Input{Args: args, Ledger: ledgerOf(b, Observe(newNode(), newTopology(zones, 64/zones)), status(`{"cpuset":"0-3,8"}`)), Request: request}
				b.ReportAllocs()
				for b.Loop() {
					if _, verdict := Filter(in, nil); !verdict.Passed() {
						b.Fatal(verdict.Reason())
					}
				}
			})
		}
	}
}
