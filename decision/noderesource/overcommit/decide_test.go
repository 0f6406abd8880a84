package overcommit

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/configuration"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/configmerge"
	"koordinator.sh/koord/decision/core/podrequest"
)

const gigabyte = 1_000_000_000

func TestBatch(t *testing.T) {
	maxUsageRequest := configuration.CalculateByPodMaxUsageRequest
	tests := []struct {
		name       string
		in         NodeInput
		wantCPU    int64
		wantMemory int64
		// wantOriginCPU is checked when it is not zero.
		wantOriginCPU int64
	}{
		{
			name: "by usage: 100-35-7-11-22 cpus and 120-42-12-11-22 GB",
			in:   n1(), wantCPU: 25_000, wantMemory: 33 * gigabyte,
		},
		{
			name:    "20 cpus kept by annotation are more than the system uses: 100-35-20-33",
			in:      n1(annotated(extension.AnnotationNodeReservation, `{"reservedCPUs":"0-19"}`)),
			wantCPU: 12_000, wantMemory: 33 * gigabyte,
		},
		{
			name:    "2 cpus kept by annotation are less than the system uses",
			in:      n1(annotated(extension.AnnotationNodeReservation, `{"reservedCPUs":"0-1"}`)),
			wantCPU: 25_000, wantMemory: 33 * gigabyte,
		},
		{
			name:    "10 cpus and 20 GB kept by annotation: 100-35-10-33 and 120-42-20-33",
			in:      n1(annotated(extension.AnnotationNodeReservation, `{"reservedCPUs":"0-9","resources":{"memory":"20G"}}`)),
			wantCPU: 22_000, wantMemory: 25 * gigabyte,
		},
		{
			name:    "the same kept by the kubelet, with a smaller annotation",
			in:      n1(kubeletKeeps("10", "20G"), annotated(extension.AnnotationNodeReservation, `{"resources":{"cpu":"2","memory":"5G"}}`)),
			wantCPU: 22_000, wantMemory: 25 * gigabyte,
		},
		{
			name: "an amplified node keeps what its kubelet kept before amplification",
			in: n1(kubeletKeeps("10", "20G"), func(in *NodeInput) { in.Node.Status.Allocatable = amounts("150", "120G") },
				annotated(extension.AnnotationNodeRawAllocatable, `{"cpu":"90","memory":"100G"}`)),
			wantCPU: 22_000, wantMemory: 25 * gigabyte,
		},
		{
			name:    "memory by request: 120-24-0-60 GB, cpu still by usage: 100-30-7-33",
			in:      n1(with(reclaim(70, 80), memoryPolicy(configuration.CalculateByPodRequest))),
			wantCPU: 30_000, wantMemory: 36 * gigabyte,
		},
		{
			name: "memory by request less 5 GB reserved",
			in: n1(with(reclaim(70, 80), memoryPolicy(configuration.CalculateByPodRequest)),
				annotated(extension.AnnotationNodeReservation, `{"resources":{"memory":"5G"}}`)),
			wantCPU: 30_000, wantMemory: 31 * gigabyte,
		},
		{
			name: "memory by request less 10 GB reserved",
			in: n1(with(reclaim(70, 80), memoryPolicy(configuration.CalculateByPodRequest)),
				annotated(extension.AnnotationNodeReservation, `{"resources":{"memory":"10G"}}`)),
			wantCPU: 30_000, wantMemory: 26 * gigabyte,
		},
		{
			name: "memory by request less 20 GB the kubelet keeps",
			in: n1(with(reclaim(70, 80), memoryPolicy(configuration.CalculateByPodRequest)), kubeletKeeps("10", "20G"),
				annotated(extension.AnnotationNodeReservation, `{"resources":{"memory":"5G"}}`)),
			wantCPU: 27_000, wantMemory: 16 * gigabyte,
		},
		{
			name:    "cpu knows no request policy and falls back to usage",
			in:      n1(with(cpuPolicy(configuration.CalculateByPodRequest))),
			wantCPU: 25_000, wantMemory: 33 * gigabyte,
		},
		{
			name:    "a reclaim threshold over 100 adds to the node: 100+100-7-33",
			in:      n1(with(reclaim(200, 65))),
			wantCPU: 160_000, wantMemory: 33 * gigabyte,
		},
		{
			name: "the same with batchCPUThresholdPercent 100 stops at the capacity",
			in: n1(with(reclaim(200, 65), func(s *configuration.ColocationStrategy) {
				s.BatchCPUThresholdPercent, s.BatchMemoryThresholdPercent = new(int64(100)), new(int64(10))
			})),
			wantCPU: 100_000, wantMemory: 12 * gigabyte,
		},
		{
			name:    "by the larger of both, pod by pod: 100-35-7-20-22 and 120-42-12-20-40",
			in:      n1(with(cpuPolicy(maxUsageRequest), memoryPolicy(maxUsageRequest))),
			wantCPU: 16_000, wantMemory: 6 * gigabyte,
		},
		{
			name: "pods of every class: prod and mid count, batch and finished ones do not",
			in:   n1(classes(extension.QoSLS)), wantCPU: 25_000, wantMemory: 33 * gigabyte,
		},
		{
			name: "an LSE pod keeps its cpus: 100-35-7-10-6-22",
			in:   n1(classes(extension.QoSLSE)), wantCPU: 20_000, wantMemory: 33 * gigabyte,
		},
		{
			name: "a pod that is gone but measured and one that is not measured yet: 100-35-5-(5+10+10)",
			in: n1(func(in *NodeInput) {
				in.Pods = []*corev1.Pod{
					testPod("podProd", extension.QoSLS, "10", "10G"), priority(testPod("podProd1", extension.QoSNone, "10", "10G"), 9999)}
				in.Metric = testMetric(usage("25", "30G"), usage("5", "10G"), podMetric("podProd", "5", "5G"), podMetric("podProd2", "10", "10G"))
			}),
			wantCPU: 35_000, wantMemory: 43 * gigabyte,
		},
		{
			name: "a pod that is gone counts nothing when it was batch",
			in: n1(func(in *NodeInput) {
				gone := podMetric("gone", "10", "10G")
				gone.Priority = extension.PriorityBatch
				in.Metric.Status.PodsMetric = append(in.Metric.Status.PodsMetric, gone)
			}),
			wantCPU: 25_000, wantMemory: 33 * gigabyte,
		},
		{
			name: "under maxUsageRequest a pod without measurements counts its request too: 100-35-7-20-22-4",
			in: n1(with(cpuPolicy(maxUsageRequest), memoryPolicy(maxUsageRequest)), func(in *NodeInput) {
				in.Pods = append(in.Pods, testPod("new", extension.QoSLS, "4", "4G"))
			}),
			wantCPU: 12_000, wantMemory: 2 * gigabyte,
		},
		{
			name: "under maxUsageRequest a pod that is gone but measured counts its use: 100-35-7-20-22-5",
			in: n1(with(cpuPolicy(maxUsageRequest), memoryPolicy(maxUsageRequest)), func(in *NodeInput) {
				in.Metric.Status.PodsMetric = append(in.Metric.Status.PodsMetric, podMetric("gone", "5", "5G"))
			}),
			wantCPU: 11_000, wantMemory: 1 * gigabyte,
		},
		{
			name: "a mid pod without measurements counts what it requests of mid",
			in: n1(func(in *NodeInput) {
				pod := priority(testPod("new", extension.QoSLS, "0", "0"), 7500)
				pod.Spec.Containers[0].Resources.Requests = corev1.ResourceList{
					extension.MidCPU: *quantity(5000), extension.MidMemory: *quantity(3 * gigabyte)}
				in.Pods = append(in.Pods, pod)
			}),
			wantCPU: 20_000, wantMemory: 30 * gigabyte,
		},
		{
			name: "applications outside of Kubernetes count with the system, unless they are batch",
			in: n1(func(in *NodeInput) {
				in.Metric.Status.HostApplicationMetric = []*slov1alpha1.HostApplicationMetricInfo{
					{Name: "nginx", Priority: extension.PriorityProd, Usage: usage("3", "2G")},
					{Name: "yarn", Priority: extension.PriorityBatch, Usage: usage("30", "30G")},
					{Name: "unknown", Usage: usage("1", "1G")},
				}
			}),
			wantCPU: 21_000, wantMemory: 30 * gigabyte,
		},
		{
			name:    "a fast cpu offers more batch-cpu: 25 x 1.2",
			in:      n1(annotated(extension.AnnotationCPUNormalizationRatio, "1.20")),
			wantCPU: 30_000, wantMemory: 33 * gigabyte,
		},
		{
			name: "what another scheduler took is not offered again, but was there",
			in: n1(annotated(extension.AnnotationCPUNormalizationRatio, "1.20"), annotated(extension.AnnotationNodeThirdPartyAllocations,
				`{"allocations":[{"name":"hadoop-yarn","priority":"koord-batch","resources":{"kubernetes.io/batch-cpu":"10000","kubernetes.io/batch-memory":"40G"}},
				{"name":"other","priority":"koord-mid","resources":{"kubernetes.io/batch-cpu":"1000"}}]}`)),
			wantCPU: 20_000, wantMemory: 0, wantOriginCPU: 30_000,
		},
		{
			name: "pods that use more than there is leave nothing",
			in: n1(func(in *NodeInput) {
				in.Metric.Status.PodsMetric[0] = podMetric("podA", "90", "110G")
			}),
		},
		{
			name: "system use that is not reported is the node's less that of its pods: 50-43 and 55-43",
			in: n1(func(in *NodeInput) {
				in.Metric.Status.NodeMetric.SystemUsage = slov1alpha1.ResourceMap{}
			}),
			wantCPU: 25_000, wantMemory: 33 * gigabyte,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := Calculate(test.in, nil)
			want := Result{BatchCPU: Value{Value: test.wantCPU}, BatchMemory: Value{Value: test.wantMemory}}
			if got.BatchCPU.Value != want.BatchCPU.Value || got.BatchMemory.Value != want.BatchMemory.Value || got.BatchCPU.Withdrawn {
				t.Errorf("batch = %d milli-cores, %d bytes (withdrawn %t %s); want %d, %d\n%s", got.BatchCPU.Value, got.BatchMemory.Value,
					got.BatchCPU.Withdrawn, got.BatchCPU.Reason, test.wantCPU, test.wantMemory, explain(test.in, 10)[0].Message)
			}
			if test.wantOriginCPU != 0 && (got.BatchCPU.Origin != test.wantOriginCPU || got.ThirdParty == (podrequest.Amount{})) {
				t.Errorf("origin = %d, third party %+v, want %d", got.BatchCPU.Origin, got.ThirdParty, test.wantOriginCPU)
			}
		})
	}
}

func TestMid(t *testing.T) {
	node := func(changes ...func(*NodeInput)) NodeInput {
		in := n1()
		in.Node = testNode("100", "210G")
		in.Metric = testMetric(usage("20", "45G"), usage("7", "12G"))
		in.Metric.Status.ProdReclaimableMetric = &slov1alpha1.ReclaimableMetric{Resource: usage("10", "15G")}
		in.Pods = nil
		for _, change := range changes {
			change(&in)
		}
		return in
	}
	static := func(s *configuration.ColocationStrategy) {
		mode := configuration.MidReclaimModeStatic
		s.MidReclaimMode, s.MidStaticCPUReservedPercent, s.MidStaticMemoryReservedPercent = &mode, new(int64(10)), new(int64(10))
	}
	tests := []struct {
		name                string
		in                  NodeInput
		wantCPU, wantMemory int64
	}{
		{
			name: "what is predicted reclaimable, as long as 80 cpus and 165 GB are unused",
			in:   node(), wantCPU: 10_000, wantMemory: 15 * gigabyte,
		},
		{
			name:    "no more than is unused now",
			in:      node(func(in *NodeInput) { in.Metric.Status.NodeMetric.NodeUsage = usage("96", "205G") }),
			wantCPU: 4_000, wantMemory: 5 * gigabyte,
		},
		{
			name: "without a prediction there is nothing",
			in:   node(func(in *NodeInput) { in.Metric.Status.ProdReclaimableMetric = nil }),
		},
		{
			name: "half of what is unallocated on top: 10+(100-7-43)/2 and 15+(210-12-48)/2",
			in: node(with(func(s *configuration.ColocationStrategy) { s.MidUnallocatedPercent = new(int64(50)) }), func(in *NodeInput) {
				in.Pods = []*corev1.Pod{testPod("service", extension.QoSLS, "43", "48G"),
					priority(testPod("mid", extension.QoSLS, "5", "5G"), 7500), testPod("batch", extension.QoSBE, "5", "5G")}
			}),
			wantCPU: 35_000, wantMemory: 90 * gigabyte,
		},
		{
			name: "no more than the threshold",
			in: node(with(func(s *configuration.ColocationStrategy) {
				s.MidUnallocatedPercent, s.MidCPUThresholdPercent, s.MidMemoryThresholdPercent = new(int64(100)), new(int64(45)), new(int64(1))
			})),
			wantCPU: 45_000, wantMemory: 2_100_000_000,
		},
		{
			name: "static: ten percent of the node",
			in:   node(with(static)), wantCPU: 10_000, wantMemory: 21 * gigabyte,
		},
		{
			name:    "static, but no more than the threshold",
			in:      node(with(static, func(s *configuration.ColocationStrategy) { s.MidCPUThresholdPercent = new(int64(4)) })),
			wantCPU: 4_000, wantMemory: 21 * gigabyte,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := Calculate(test.in, nil)
			if got.MidCPU.Value != test.wantCPU || got.MidMemory.Value != test.wantMemory {
				t.Errorf("mid = %d milli-cores, %d bytes; want %d, %d", got.MidCPU.Value, got.MidMemory.Value, test.wantCPU, test.wantMemory)
			}
		})
	}
}

func TestUntrustworthyMeasurementsWithdrawEverything(t *testing.T) {
	updated := func(at time.Time) func(*NodeInput) {
		return func(in *NodeInput) { in.Metric.Status.UpdateTime = &metav1.Time{Time: at} }
	}
	tests := []struct {
		name        string
		in          NodeInput
		wantState   diagnosticsv1alpha1.MetricState
		wantOffer   bool
		wantProblem string
	}{
		{name: "a report of two minutes ago is fresh", in: n1(updated(noon.Add(-2 * time.Minute))), wantState: diagnosticsv1alpha1.MetricFresh, wantOffer: true},
		{name: "a report of three minutes ago is stale but counts", in: n1(updated(noon.Add(-3 * time.Minute))), wantState: diagnosticsv1alpha1.MetricStale, wantOffer: true},
		{name: "a koordlet that is told to report every 15 seconds does it every 30", in: n1(updated(noon.Add(-time.Minute)), func(in *NodeInput) {
			in.Metric.Spec.CollectPolicy = &slov1alpha1.NodeMetricCollectPolicy{ReportIntervalSeconds: new(int64(15))}
		}), wantState: diagnosticsv1alpha1.MetricFresh, wantOffer: true},
		{name: "a report of fifteen minutes ago still counts", in: n1(updated(noon.Add(-15 * time.Minute))), wantState: diagnosticsv1alpha1.MetricStale, wantOffer: true},
		{name: "a report of more than fifteen minutes ago does not", in: n1(updated(noon.Add(-15*time.Minute - time.Second))), wantState: diagnosticsv1alpha1.MetricExpired},
		{name: "clocks that differ by a minute are forgiven", in: n1(updated(noon.Add(time.Minute))), wantState: diagnosticsv1alpha1.MetricFresh, wantOffer: true},
		{name: "a report from the future is not", in: n1(updated(noon.Add(time.Hour))), wantState: diagnosticsv1alpha1.MetricInvalid, wantProblem: "1h0m0s in the future"},
		{name: "a report of the year 9999 is not", in: n1(updated(time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC))),
			wantState: diagnosticsv1alpha1.MetricInvalid, wantProblem: "updateTime is 7978y in the future"},
		{name: "no NodeMetric", in: n1(func(in *NodeInput) { in.Metric = nil }), wantState: diagnosticsv1alpha1.MetricAbsent},
		{name: "a NodeMetric without a report", in: n1(func(in *NodeInput) { in.Metric.Status = slov1alpha1.NodeMetricStatus{} }), wantState: diagnosticsv1alpha1.MetricAbsent},
		{name: "a report without a time", in: n1(func(in *NodeInput) { in.Metric.Status.UpdateTime = nil }), wantState: diagnosticsv1alpha1.MetricAbsent},
		{name: "a report without the node's memory", in: n1(func(in *NodeInput) { delete(in.Metric.Status.NodeMetric.NodeUsage.ResourceList, "memory") }),
			wantState: diagnosticsv1alpha1.MetricInvalid, wantProblem: "nodeUsage has no memory"},
		{name: "negative use of the node", in: n1(func(in *NodeInput) { in.Metric.Status.NodeMetric.NodeUsage = usage("-1", "1G") }),
			wantState: diagnosticsv1alpha1.MetricInvalid, wantProblem: "nodeUsage: is negative"},
		{name: "negative use of the system", in: n1(func(in *NodeInput) { in.Metric.Status.NodeMetric.SystemUsage = usage("1", "-1G") }),
			wantState: diagnosticsv1alpha1.MetricInvalid, wantProblem: "systemUsage: is negative"},
		{name: "negative use of a pod", in: n1(func(in *NodeInput) { in.Metric.Status.PodsMetric[1] = podMetric("podB", "-1", "1G") }),
			wantState: diagnosticsv1alpha1.MetricInvalid, wantProblem: "use of pod test/podB: is negative"},
		{name: "ten times the capacity", in: n1(func(in *NodeInput) { in.Metric.Status.NodeMetric.NodeUsage = usage("1000", "1G") }),
			wantState: diagnosticsv1alpha1.MetricInvalid, wantProblem: "nodeUsage: 1000 cores on a node of 100 cores"},
		{name: "more than any number can hold", in: n1(func(in *NodeInput) { in.Metric.Status.PodsMetric[0] = podMetric("podA", "1", "9E") }),
			wantState: diagnosticsv1alpha1.MetricInvalid, wantProblem: "use of pod test/podA"},
		{name: "a negative prediction", in: n1(func(in *NodeInput) {
			in.Metric.Status.ProdReclaimableMetric = &slov1alpha1.ReclaimableMetric{Resource: usage("-10", "1G")}
		}), wantState: diagnosticsv1alpha1.MetricInvalid, wantProblem: "prodReclaimable is negative"},
		{name: "a reservation that cannot be read", in: n1(annotated(extension.AnnotationNodeReservation, `{`)), wantState: diagnosticsv1alpha1.MetricFresh},
		{name: "an allocation of another scheduler that cannot be read", in: n1(annotated(extension.AnnotationNodeThirdPartyAllocations, `[]`)), wantState: diagnosticsv1alpha1.MetricFresh},
		{name: "co-location switched off", in: n1(with(func(s *configuration.ColocationStrategy) { s.Enable = new(false) })), wantState: diagnosticsv1alpha1.MetricFresh},
		{name: "no configuration at all", in: n1(func(in *NodeInput) { in.Strategy = configmerge.Merged{} }), wantState: diagnosticsv1alpha1.MetricFresh},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := Calculate(test.in, nil)
			if got.Metric != test.wantState {
				t.Errorf("state = %s, want %s", got.Metric, test.wantState)
			}
			for _, name := range Resources() {
				value, _ := got.Of(name)
				if value.Withdrawn == test.wantOffer || !test.wantOffer && (value.Value != 0 || value.Reason == "") {
					t.Errorf("%s = %+v, want offered: %t", name, value, test.wantOffer)
				}
			}
			if facts := AssessMetric(test.in); !strings.Contains(facts.Problem, test.wantProblem) || (facts.Problem == "") != (test.wantProblem == "") {
				t.Errorf("problem = %q, want %q", facts.Problem, test.wantProblem)
			}
			if got.Expires.IsZero() == test.wantOffer {
				t.Errorf("expires at %v although offered is %t", got.Expires, test.wantOffer)
			}
		})
	}
}

func TestMessagesAreUpstreams(t *testing.T) {
	maxUsageRequest := configuration.CalculateByPodMaxUsageRequest
	tests := []struct {
		name string
		in   NodeInput
		want [2]string
	}{
		{name: "usage", in: n1(), want: [2]string{
			"batchAllocatable[CPU(Milli-Core)]:25000 = nodeCapacity:100000 - nodeSafetyMargin:35000 - systemUsageOrNodeReserved:7000 - podHPUsed:33000",
			"batchAllocatable[Mem(GB)]:33 = nodeCapacity:120 - nodeSafetyMargin:42 - systemUsage:12 - podHPUsed:33"}},
		{name: "memory by request", in: n1(with(reclaim(70, 80), memoryPolicy(configuration.CalculateByPodRequest))), want: [2]string{
			"batchAllocatable[CPU(Milli-Core)]:30000 = nodeCapacity:100000 - nodeSafetyMargin:30000 - systemUsageOrNodeReserved:7000 - podHPUsed:33000",
			"batchAllocatable[Mem(GB)]:36 = nodeCapacity:120 - nodeSafetyMargin:24 - nodeReserved:0 - podHPRequest:60"}},
		{name: "the larger of both", in: n1(with(cpuPolicy(maxUsageRequest), memoryPolicy(maxUsageRequest))), want: [2]string{
			"batchAllocatable[CPU(Milli-Core)]:16000 = nodeCapacity:100000 - nodeSafetyMargin:35000 - systemUsageOrNodeReserved:7000 - podHPMaxUsedRequest:42000",
			"batchAllocatable[Mem(GB)]:6 = nodeCapacity:120 - nodeSafetyMargin:42 - systemUsage:12 - podHPMaxUsedRequest:60"}},
		{name: "degraded", in: n1(func(in *NodeInput) { in.Metric = nil }), want: [2]string{
			"degrade node resource because of abnormal nodeMetric, reason: degradedByBatchResource",
			"degrade node resource because of abnormal nodeMetric, reason: degradedByBatchResource"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			waterfalls := explain(test.in, 10)
			if diff := cmp.Diff(test.want, [2]string{waterfalls[0].Message, waterfalls[1].Message}); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
		})
	}
}

func BenchmarkCalculate(b *testing.B) {
	for _, pods := range []int{30, 110} {
		in := busyNode(pods)
		b.Run(fmt.Sprintf("pods=%d", pods), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Calculate(in, nil)
			}
		})
		b.Run(fmt.Sprintf("explain/pods=%d", pods), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				explain(in, 10)
			}
		})
	}
}
