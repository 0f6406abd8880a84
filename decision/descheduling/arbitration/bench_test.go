package arbitration

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// BenchmarkDecide arbitrates 2,000 pending jobs beside 3,000 that have ended, for 500 workloads of 50 pods on 5,000 nodes.
func BenchmarkDecide(b *testing.B) {
	in := Input{
		Now: noon, Workloads: map[types.UID]Workload{},
		Limits: Limits{
			MaxMigratingPerNode: new(int32(2)), MaxMigratingGlobally: new(int32(200)),
			ObjectLimiters: ObjectLimiters{Workload: &ObjectLimiter{Duration: 5 * time.Minute, Burst: 1}},
		},
	}
	for i := range 500 {
		in.Workloads[types.UID(fmt.Sprint("w", i))] = deployment(fmt.Sprint("w", i), 50, 0)
	}
	for i := range 5000 {
		workload, node := types.UID(fmt.Sprint("w", i%500)), fmt.Sprint("n", i)
		if i < 3000 {
			in.Jobs = append(in.Jobs, jobOf(fmt.Sprint("old", i), node, of(workload), evicted(time.Duration(i)*time.Second)))
			continue
		}
		in.Jobs = append(in.Jobs, jobOf(fmt.Sprintf("w%d-%d", i%500, i/500), node, of(workload), ranked(i)))
	}
	b.ReportAllocs()
	for b.Loop() {
		if Decide(in, nil).Admitted() == 0 {
			b.Fatal("nothing is admitted")
		}
	}
}
