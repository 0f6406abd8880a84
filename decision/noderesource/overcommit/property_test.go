package overcommit

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"koordinator.sh/koord/api/configuration"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/waterfall"
)

const gibibyte = int64(1) << 30

func drawAmounts(t *rapid.T, label string, maxCPU, maxMemory int64) corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewMilliQuantity(rapid.Int64Range(0, maxCPU).Draw(t, label+" cpu"), resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(rapid.Int64Range(0, maxMemory).Draw(t, label+" memory"), resource.BinarySI),
	}
}

func drawStrategy(t *rapid.T, s *configuration.ColocationStrategy, maxReclaim int64) {
	optional := func(label string, most int64) *int64 {
		if rapid.Bool().Draw(t, label+" set") {
			return new(rapid.Int64Range(0, most).Draw(t, label))
		}
		return nil
	}
	s.CPUReclaimThresholdPercent = new(rapid.Int64Range(0, maxReclaim).Draw(t, "cpu reclaim"))
	s.MemoryReclaimThresholdPercent = new(rapid.Int64Range(0, maxReclaim).Draw(t, "memory reclaim"))
	policies := []configuration.CalculatePolicy{"usage", "request", "maxUsageRequest"}
	s.CPUCalculatePolicy = new(rapid.SampledFrom(policies).Draw(t, "cpu policy"))
	s.MemoryCalculatePolicy = new(rapid.SampledFrom(policies).Draw(t, "memory policy"))
	s.BatchCPUThresholdPercent = optional("batch cpu threshold", 150)
	s.BatchMemoryThresholdPercent = optional("batch memory threshold", 150)
	s.MidUnallocatedPercent = optional("mid unallocated", 100)
	s.MidCPUThresholdPercent = optional("mid cpu threshold", 100)
	s.MidMemoryThresholdPercent = optional("mid memory threshold", 100)
	if rapid.Bool().Draw(t, "static") {
		s.MidReclaimMode = new(configuration.MidReclaimModeStatic)
		s.MidStaticCPUReservedPercent = optional("static cpu", 100)
		s.MidStaticMemoryReservedPercent = optional("static memory", 100)
	}
}

// drawInput makes a node with pods and measurements that are possible, though not always consistent.
func drawInput(t *rapid.T, maxReclaim int64) NodeInput {
	const maxCPU, maxMemory = 256_000, 1 << 40
	in := NodeInput{Now: noon, Strategy: strategy()}
	drawStrategy(t, &in.Strategy.Strategy, maxReclaim)
	capacity := drawAmounts(t, "capacity", maxCPU, maxMemory)
	in.Node = &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "test-node", Annotations: map[string]string{}},
		Status: corev1.NodeStatus{Capacity: capacity, Allocatable: drawAmounts(t, "allocatable", maxCPU, maxMemory)}}
	cpu, memory := capacity[corev1.ResourceCPU], capacity[corev1.ResourceMemory]
	if rapid.Bool().Draw(t, "fast cpu") {
		in.Node.Annotations[extension.AnnotationCPUNormalizationRatio] = fmt.Sprintf("%.2f", rapid.Float64Range(0.5, 5).Draw(t, "ratio"))
	}
	if rapid.Bool().Draw(t, "third party") {
		in.Node.Annotations[extension.AnnotationNodeThirdPartyAllocations] = fmt.Sprintf(
			`{"allocations":[{"name":"yarn","priority":"koord-batch","resources":{"kubernetes.io/batch-cpu":%d}}]}`,
			rapid.Int64Range(0, maxCPU).Draw(t, "taken"))
	}
	draw := func(label string) slov1alpha1.ResourceMap {
		return slov1alpha1.ResourceMap{ResourceList: drawAmounts(t, label, cpu.MilliValue(), memory.Value())}
	}
	in.Metric = testMetric(draw("node"), draw("system"))
	in.Metric.Status.ProdReclaimableMetric = &slov1alpha1.ReclaimableMetric{Resource: draw("reclaimable")}
	for i := range rapid.IntRange(0, 6).Draw(t, "pods") {
		name := fmt.Sprintf("pod-%d", i)
		pod := testPod(name, rapid.SampledFrom([]extension.QoSClass{"", "LS", "LSR", "LSE", "BE"}).Draw(t, "qos"), "1", "1Gi")
		pod.Spec.Containers[0].Resources.Requests = drawAmounts(t, name+" request", 64_000, 64*gibibyte)
		if rapid.Bool().Draw(t, "banded") {
			priority(pod, rapid.SampledFrom([]int32{9500, 7500, 5500, 3500}).Draw(t, "priority"))
		}
		if rapid.IntRange(0, 3).Draw(t, "exists") > 0 {
			in.Pods = append(in.Pods, pod)
		}
		if rapid.IntRange(0, 3).Draw(t, "measured") > 0 {
			info := &slov1alpha1.PodMetricInfo{Namespace: "test", Name: name, PodUsage: draw(name),
				Priority: extension.PodPriorityClassWithDefault(pod)}
			in.Metric.Status.PodsMetric = append(in.Metric.Status.PodsMetric, info)
		}
	}
	return in
}

func values(r Result) [4]int64 {
	return [4]int64{r.BatchCPU.Value, r.BatchMemory.Value, r.MidCPU.Value, r.MidMemory.Value}
}

func TestNeverNegativeAndNeverAboveCapacity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput(t, 250)
		got := Calculate(in, nil)
		c := newCalculation(&in, nil)
		for i, value := range values(got) {
			k := kinds[i]
			limit := k.of(c.capacity.Total)
			if !k.mid {
				limit = waterfall.Apply(diagnosticsv1alpha1.Times, limit, max(c.reclaimPercent(k), 100))
			}
			if k.cpu && !k.mid {
				limit = waterfall.Apply(diagnosticsv1alpha1.Times, limit, c.capacity.NormalizationPercent) + 5
			}
			if value < 0 || value > limit+1 {
				t.Errorf("%s = %d, outside of 0 to %d", k.short, value, limit)
			}
		}
	})
}

// TestLessIsKnownNothingMoreIsOffered is the invariant that missing data never raises overcommit.
func TestLessIsKnownNothingMoreIsOffered(t *testing.T) {
	damages := map[string]func(*NodeInput){
		"no NodeMetric":          func(in *NodeInput) { in.Metric = nil },
		"no report":              func(in *NodeInput) { in.Metric.Status.NodeMetric = nil },
		"no time":                func(in *NodeInput) { in.Metric.Status.UpdateTime = nil },
		"no node usage":          func(in *NodeInput) { in.Metric.Status.NodeMetric.NodeUsage = slov1alpha1.ResourceMap{} },
		"no prediction":          func(in *NodeInput) { in.Metric.Status.ProdReclaimableMetric = nil },
		"too old":                func(in *NodeInput) { in.Metric.Status.UpdateTime = &metav1.Time{Time: noon.Add(-time.Hour)} },
		"from the future":        func(in *NodeInput) { in.Metric.Status.UpdateTime = &metav1.Time{Time: noon.Add(time.Hour)} },
		"negative":               func(in *NodeInput) { in.Metric.Status.NodeMetric.NodeUsage = usage("-1", "-1") },
		"absurd":                 func(in *NodeInput) { in.Metric.Status.NodeMetric.SystemUsage = usage("1E", "1E") },
		"unreadable reservation": annotated(extension.AnnotationNodeReservation, `nonsense`),
		"unreadable allocations": annotated(extension.AnnotationNodeThirdPartyAllocations, `nonsense`),
		"unreadable ratio":       annotated(extension.AnnotationCPUNormalizationRatio, `nonsense`),
		"no strategy":            func(in *NodeInput) { in.Strategy.Strategy = configuration.ColocationStrategy{} },
	}
	names := slices.Sorted(maps.Keys(damages))
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput(t, 150)
		before := values(Calculate(in, nil))
		name := rapid.SampledFrom(names).Draw(t, "damage")
		damaged := in
		damaged.Metric, damaged.Node = in.Metric.DeepCopy(), in.Node.DeepCopy()
		damages[name](&damaged)
		for i, after := range values(Calculate(damaged, nil)) {
			if after > before[i] {
				t.Errorf("%s raised %s from %d to %d", name, kinds[i].short, before[i], after)
			}
		}
	})
}

func TestMoreUseOffersNoMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput(t, 150)
		before := values(Calculate(in, nil))
		busier := in
		busier.Metric = in.Metric.DeepCopy()
		status := &busier.Metric.Status
		grow := func(list corev1.ResourceList) {
			cpu, memory := list[corev1.ResourceCPU], list[corev1.ResourceMemory]
			cpu.Add(*resource.NewMilliQuantity(rapid.Int64Range(0, 10_000).Draw(t, "more cpu"), resource.DecimalSI))
			memory.Add(*resource.NewQuantity(rapid.Int64Range(0, gibibyte).Draw(t, "more memory"), resource.BinarySI))
			list[corev1.ResourceCPU], list[corev1.ResourceMemory] = cpu, memory
		}
		grow(status.NodeMetric.NodeUsage.ResourceList)
		grow(status.NodeMetric.SystemUsage.ResourceList)
		for _, pod := range status.PodsMetric {
			grow(pod.PodUsage.ResourceList)
		}
		for i, after := range values(Calculate(busier, nil)) {
			if after > before[i] {
				t.Errorf("more use raised %s from %d to %d", kinds[i].short, before[i], after)
			}
		}
	})
}

// TestTraceReplaysToTheResult holds the explanation against the decision: applying the listed terms by hand, in numbers
// of any size, gives what Calculate decided.
func TestTraceReplaysToTheResult(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput(t, 250)
		if rapid.IntRange(0, 9).Draw(t, "broken") == 0 {
			in.Metric = nil
		}
		result, trace := Calculate(in, nil), &Trace{MaxParts: rapid.IntRange(0, 20).Draw(t, "parts")}
		if diff := cmp.Diff(result, Calculate(in, trace)); diff != "" {
			t.Fatalf("with a trace (-without +with):\n%s", diff)
		}
		want := values(result)
		for i, w := range trace.Waterfalls {
			if w.Result != want[i] || w.Terms[len(w.Terms)-1].Value != want[i] {
				t.Errorf("%s: waterfall says %d, Calculate %d", w.Resource, w.Result, want[i])
			}
			if got := replay(w.Terms); got.Cmp(big.NewInt(want[i])) != 0 {
				t.Errorf("%s: the terms give %s, Calculate %d:\n%+v", w.Resource, got, want[i], w.Terms)
			}
			for _, term := range w.Terms {
				if len(term.Parts) > 0 && term.PartsOmitted == 0 && replay(term.Parts).Cmp(big.NewInt(term.Value)) != 0 {
					t.Errorf("%s: parts of %s give %s, the term is %d", w.Resource, term.Name, replay(term.Parts), term.Value)
				}
			}
		}
	})
}

func replay(terms []diagnosticsv1alpha1.Term) *big.Int {
	running := new(big.Int)
	for _, term := range terms {
		operand := big.NewInt(term.Value)
		switch term.Operator {
		case diagnosticsv1alpha1.Start:
			running.Set(operand)
		case diagnosticsv1alpha1.Plus:
			running.Add(running, operand)
		case diagnosticsv1alpha1.Minus:
			running.Sub(running, operand)
		case diagnosticsv1alpha1.Min:
			if operand.Cmp(running) < 0 {
				running.Set(operand)
			}
		case diagnosticsv1alpha1.Max:
			if operand.Cmp(running) > 0 {
				running.Set(operand)
			}
		case diagnosticsv1alpha1.Times:
			running.Quo(running.Mul(running, operand), big.NewInt(100))
		}
	}
	return running
}

func TestInputsAreNotModified(t *testing.T) {
	in := n1(annotated(extension.AnnotationNodeReservation, `{"reservedCPUs":"0-1"}`))
	node, metric := in.Node.DeepCopy(), in.Metric.DeepCopy()
	Calculate(in, nil)
	explain(in, 10)
	if diff := cmp.Diff(node, in.Node) + cmp.Diff(metric, in.Metric); diff != "" {
		t.Errorf("inputs changed:\n%s", diff)
	}
}
