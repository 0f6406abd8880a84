package coscheduling

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BenchmarkScheduling schedules 1,000 pods on 1,000 nodes with a whole scheduler and an API server in memory, as plain pods and
// as gangs of ten: the processor time of all of it, and what is sent to the API server, for each pod.
func BenchmarkScheduling(b *testing.B) {
	for _, size := range []int{0, 10, 100} {
		b.Run(fmt.Sprintf("gangs of %d", size), func(b *testing.B) {
			for b.Loop() {
				schedule(b, size)
			}
		})
	}
}

func schedule(b *testing.B, size int) {
	const pods = 1000
	c := newCluster(b, 1000, 8)
	stop := c.start(b)
	defer stop()
	b.ResetTimer()
	begin, before := time.Now(), processorTime(b)
	for i := range pods {
		group := ""
		if size > 0 {
			if group = fmt.Sprintf("g%d", i/size); i%size == 0 {
				c.groups.Add(c.group(group, int32(size)))
			}
		}
		c.createPod(b, fmt.Sprintf("p%d", i), group)
	}
	for c.done.Load() < pods {
		time.Sleep(time.Millisecond)
	}
	b.ReportMetric((processorTime(b)-before).Seconds()*1e6/pods, "cpu-us/pod")
	b.ReportMetric(pods/time.Since(begin).Seconds(), "pods/s")
	b.ReportMetric(float64(len(c.client.Actions()))/pods, "requests/pod")
}

func processorTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// BenchmarkPlainPod is what the plugin costs a pod without a gang, in all of its extension points together.
func BenchmarkPlainPod(b *testing.B) {
	p := newFixture(b).plugin
	pod, ctx := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p", Labels: map[string]string{"app": "web"}, Annotations: map[string]string{"a": "b"}}}, b.Context()
	b.ReportAllocs()
	for b.Loop() {
		p.PreEnqueue(ctx, pod)
		p.PreFilter(ctx, nil, pod, nil)
		p.SignPod(ctx, pod)
		p.Reserve(ctx, nil, pod, "n")
		p.Permit(ctx, nil, pod, "n")
		p.PostBind(ctx, nil, pod, "n")
	}
}
