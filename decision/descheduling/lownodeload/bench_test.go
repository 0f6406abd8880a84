package lownodeload

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// largeCluster has 5,000 nodes with 30 pods each; a tenth of the nodes is overutilized, and two fifths are underutilized.
func largeCluster() []Node {
	random := rand.New(rand.NewPCG(1, 2))
	nodes := make([]Node, 5000)
	for i := range nodes {
		most := []int64{100, 200, 350, 480, 300}[random.IntN(5)]
		if i%10 == 0 {
			most = 640
		}
		pods := make([]builtPod, 30)
		for j := range pods {
			pods[j] = pod(fmt.Sprintf("pod-%d-%d", i, j), random.Int64N(most), using(random.Int64N(3)), requesting(200))
			pods[j].OwnerReferences = []metav1.OwnerReference{{UID: types.UID(fmt.Sprintf("set-%d", random.IntN(2000))), Controller: new(true)}}
			if random.IntN(2) == 0 {
				batch(&pods[j])
			}
			if random.IntN(10) == 0 {
				pods[j].Spec.NodeSelector = map[string]string{"disk": "ssd"}
			}
		}
		nodes[i] = node(fmt.Sprintf("node-%d", i), pods...)
	}
	return nodes
}

// BenchmarkPass decides a whole pass over 5,000 nodes and 150,000 pods. It must take less than 2 s of CPU.
func BenchmarkPass(b *testing.B) {
	nodes := largeCluster()
	for name, change := range map[string]func(*Args){
		"node": func(*Args) {},
		"prod": func(a *Args) {
			a.ProdLowThresholds, a.ProdHighThresholds = Thresholds{"cpu": 15}, Thresholds{"cpu": 30}
		},
	} {
		b.Run(name, func(b *testing.B) {
			in := Input{Policy: policy(b, change), Now: moment, Interval: time.Minute, Nodes: nodes}
			b.ReportAllocs()
			victims, before := 0, cpuTime(b)
			for b.Loop() {
				victims = len(Decide(in, nil).Victims)
			}
			perPass := (cpuTime(b) - before) / time.Duration(b.N)
			b.ReportMetric(float64(victims), "victims")
			b.ReportMetric(perPass.Seconds(), "cpu-s/op")
			if perPass > 2*time.Second {
				b.Errorf("a pass takes %s of CPU", perPass)
			}
		})
	}
}

// cpuTime that the process has used, whatever else the machine does.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
