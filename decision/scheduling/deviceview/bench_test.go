package deviceview

import (
	"fmt"
	"testing"
)

// BenchmarkOverview is one node with 4 GPUs, 2 network cards and 100 pods, of which 8 hold shares of GPUs.
func BenchmarkOverview(b *testing.B) {
	in := Input{Object: machine()}
	for i := range 100 {
		p := pod(fmt.Sprint("pod-", i), "")
		if i < 8 {
			p = holding(b, pod(fmt.Sprint("gpu-", i), "40"), 40, int32(i%4))
		}
		in.Pods = append(in.Pods, p)
	}
	for b.Loop() {
		Overview(in)
	}
}
