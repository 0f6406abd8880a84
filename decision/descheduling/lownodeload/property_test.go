package lownodeload

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/descheduling/nodeload"
)

// drawInput draws a small cluster around its thresholds, with nodes that decide nothing.
func drawInput(t *rapid.T) Input {
	args := &Args{
		NodeFit: new(rapid.Bool().Draw(t, "nodeFit")), DryRun: new(rapid.Bool().Draw(t, "dryRun")),
		PoolSettings: PoolSettings{
			LowThresholds: Thresholds{corev1.ResourceCPU: 40, corev1.ResourceMemory: 50}, HighThresholds: Thresholds{corev1.ResourceCPU: 70, corev1.ResourceMemory: 80},
			UseDeviationThresholds: new(rapid.IntRange(0, 3).Draw(t, "deviation") == 3),
			AnomalyCondition:       &AnomalyCondition{ConsecutiveAbnormalities: rapid.Uint32Range(1, 2).Draw(t, "abnormalities")},
		},
	}
	if *args.UseDeviationThresholds {
		args.LowThresholds, args.HighThresholds = Thresholds{corev1.ResourceCPU: 5}, Thresholds{corev1.ResourceCPU: 5}
	}
	if rapid.Bool().Draw(t, "prod") {
		args.ProdLowThresholds, args.ProdHighThresholds = Thresholds{corev1.ResourceCPU: 20}, Thresholds{corev1.ResourceCPU: 45}
	}
	SetDefaults(args)
	compiled, err := Compile(args)
	if err != nil {
		t.Fatal(err)
	}
	in := Input{Policy: compiled, Now: moment, Interval: time.Minute, History: History{Nodes: map[string]NodeHistory{}}}
	for i := range rapid.IntRange(3, 6).Draw(t, "nodes") {
		in.Nodes = append(in.Nodes, drawNode(t, fmt.Sprintf("node-%d", i)))
		if seen := rapid.Uint32Range(0, 3).Draw(t, "seen"); seen > 0 {
			in.History.Nodes[in.Nodes[i].Name] = NodeHistory{Pool: DefaultPool, Node: Detector{Abnormalities: seen}, Prod: Detector{Abnormalities: seen}, ObservedAt: metav1.NewTime(moment.Add(-time.Minute))}
		}
	}
	return in
}

// drawNode draws a node that is likely to be overutilized, underutilized, or anything.
func drawNode(t *rapid.T, name string) Node {
	kind := rapid.SampledFrom([]struct{ pods, least, most int64 }{{6, 1000, 2000}, {6, 1000, 2000}, {2, 0, 1200}, {2, 0, 1200}, {5, 0, 2500}}).Draw(t, "kind")
	var pods []builtPod
	for i := range rapid.Int64Range(kind.pods/2+1, kind.pods+2).Draw(t, "pods") {
		built := pod(fmt.Sprintf("%s-%d", name, i), rapid.Int64Range(kind.least, kind.most).Draw(t, "cpu"), using(rapid.Int64Range(0, 15).Draw(t, "memory")), requesting(rapid.Int64Range(0, 2000).Draw(t, "request")))
		if rapid.Bool().Draw(t, "batch") {
			batch(&built)
		}
		built.unreported = rapid.IntRange(0, 19).Draw(t, "unreported") == 19
		pods = append(pods, built)
	}
	out := node(name, pods...)
	switch rapid.IntRange(0, 19).Draw(t, "trouble") {
	case 19:
		out.Metric = nil
	case 18:
		out.Metric.UpdateTime = moment.Add(-time.Hour)
	case 17:
		out.Spec.Unschedulable = true
	case 16:
		out.Spec.Taints = []corev1.Taint{{Key: "a", Effect: corev1.TaintEffectNoSchedule}}
	}
	return out
}

// TestTheVerdictIsTheSameWithATrace, and the input is not changed.
func TestTheVerdictIsTheSameWithATrace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput(t)
		before, err := json.Marshal(struct {
			Nodes   []Node
			History History
		}{in.Nodes, in.History})
		if err != nil {
			t.Fatal(err)
		}
		trace := &Trace{}
		without, with := Decide(in, nil), Decide(in, trace)
		if diff := cmp.Diff(without, with); diff != "" {
			t.Fatalf("with a trace (-without +with):\n%s", diff)
		}
		if len(trace.Victims) != len(with.Victims) {
			t.Fatalf("%d victims traced, want %d", len(trace.Victims), len(with.Victims))
		}
		after, err := json.Marshal(struct {
			Nodes   []Node
			History History
		}{in.Nodes, in.History})
		if err != nil || string(before) != string(after) {
			t.Fatalf("the input changed: %v", err)
		}
	})
}

// load is the usage of a node as the test adds it up.
type load struct{ cpu, prodCPU, memory int64 }

// loads adds up what the pods of each node use after a verdict, in whose targets they arrive.
func loads(in Input, verdict Verdict) map[string]*load {
	moved := map[string]string{}
	for i := range verdict.Victims {
		moved[verdict.Victims[i].Pod.Name] = verdict.Victims[i].Target
	}
	out := map[string]*load{}
	for i := range in.Nodes {
		if in.Nodes[i].Metric != nil {
			out[in.Nodes[i].Name] = &load{cpu: 500, memory: 5}
		}
	}
	for i := range in.Nodes {
		node := &in.Nodes[i]
		if node.Metric == nil {
			continue
		}
		prod := map[string]bool{}
		for _, pod := range node.Pods {
			prod[pod.Name] = extension.PodPriorityClassWithDefault(pod) == extension.PriorityProd
		}
		for _, reported := range node.Metric.Pods {
			at := out[node.Name]
			if target, moves := moved[reported.Name]; moves {
				at = out[target]
			}
			if at == nil {
				continue // it left without a target
			}
			cpu, _ := reported.Usage.Get(corev1.ResourceCPU)
			memory, _ := reported.Usage.Get(corev1.ResourceMemory)
			at.cpu, at.memory = at.cpu+cpu, at.memory+memory/gi
			if prod[reported.Name] {
				at.prodCPU += cpu
			}
		}
	}
	return out
}

// TestNoTargetIsAboveAHighThreshold adds up the usage of each target with all that come.
func TestNoTargetIsAboveAHighThreshold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput(t)
		trace := &Trace{}
		verdict := Decide(in, trace)
		after := loads(in, verdict)
		for i := range verdict.Victims {
			victim := &verdict.Victims[i]
			if victim.Target == "" {
				if in.Policy.nodeFit {
					t.Fatalf("%s has no target", victim.Pod.Name)
				}
				continue
			}
			target, _ := trace.Node(victim.Target)
			source, _ := trace.Node(victim.Node)
			if source.Class != High && source.Class != ProdHigh || target.Class != Low && target.Class != BothLow && target.Class != ProdLow {
				t.Fatalf("%s moves from a node that is %s to one that is %s", victim.Pod.Name, source.Class, target.Class)
			}
			used := map[corev1.ResourceName]int64{corev1.ResourceCPU: after[victim.Target].cpu, corev1.ResourceMemory: after[victim.Target].memory * gi}
			for _, comparison := range target.Usage {
				if used[comparison.Resource] > comparison.High {
					t.Fatalf("%s uses %d %s with what comes, above %d", target.Name, used[comparison.Resource], comparison.Resource, comparison.High)
				}
			}
			for _, comparison := range target.ProdUsage {
				if prod := extension.PodPriorityClassWithDefault(victim.Pod) == extension.PriorityProd; prod && comparison.Resource == corev1.ResourceCPU && after[victim.Target].prodCPU > comparison.High {
					t.Fatalf("prod uses %d of %s with what comes, above %d", after[victim.Target].prodCPU, target.Name, comparison.High)
				}
			}
		}
	})
}

// TestNoMoreLeavesThanIsAvailable: what the low nodes have left after each victim is never negative.
func TestNoMoreLeavesThanIsAvailable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput(t)
		trace := &Trace{}
		Decide(in, trace)
		for i := range trace.Victims {
			for _, left := range trace.Victims[i].Left {
				if left.Amount < 0 {
					t.Fatalf("%s leaves, and low nodes have %d %s left", trace.Victims[i].Rank.Name, left.Amount, left.Resource)
				}
			}
			if len(trace.Victims[i].Excess) == 0 {
				t.Fatalf("%s leaves a node that is not overutilized", trace.Victims[i].Rank.Name)
			}
		}
	})
}

// TestAStoredHistoryDecidesTheSame: a history that went through JSON is as good as the one in memory.
func TestAStoredHistoryDecidesTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput(t)
		next := in
		next.History, next.Now = Decide(in, nil).History, in.Now.Add(time.Duration(rapid.Int64Range(0, int64(3*time.Minute)).Draw(t, "later")))
		stored, err := json.Marshal(next.History)
		if err != nil {
			t.Fatal(err)
		}
		reloaded := next
		reloaded.History = History{}
		if err := json.Unmarshal(stored, &reloaded.History); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(names(Decide(next, nil).Victims), names(Decide(reloaded, nil).Victims)); diff != "" {
			t.Fatalf("victims (-memory +stored):\n%s", diff)
		}
	})
}

// FuzzArgs decodes arguments, and runs a pass with those that are valid.
func FuzzArgs(f *testing.F) {
	f.Add(`{"lowThresholds":{"cpu":45},"highThresholds":{"cpu":75},"anomalyCondition":{"consecutiveAbnormalities":1}}`)
	f.Add(`{"useDeviationThresholds":true,"lowThresholds":{"cpu":5,"":1},"highThresholds":{"cpu":1e308},"resourceWeights":{"cpu":-1}}`)
	f.Add(`{"nodePools":[{},{"name":"a","nodeSelector":{"matchExpressions":[{"key":"a","operator":"In"}]},"prodHighThresholds":{"memory":0}}]}`)
	f.Add(`{"nodeMetricExpirationSeconds":9223372036854775807,"detectorCacheTimeout":"2562047h47m16s","numberOfNodes":-1,"podSelectors":[{}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		args := &Args{}
		if json.Unmarshal([]byte(text), args) != nil {
			return
		}
		SetDefaults(args)
		if errs := Validate(args); len(errs) > 0 {
			return
		}
		compiled, err := Compile(args)
		if err != nil {
			t.Fatalf("valid arguments do not compile: %v", err)
		}
		Decide(Input{Policy: compiled, Now: moment, Interval: time.Minute, Nodes: []Node{loaded("hot", 90), loaded("cold", 10)}}, &Trace{})
	})
}

// FuzzNumbers decides with any numbers in a NodeMetric: nothing panics, and no victim is made of numbers that cannot be true.
func FuzzNumbers(f *testing.F) {
	for _, number := range []int64{0, 1, -1, 9000, math.MaxInt64, math.MinInt64} {
		f.Add(number, number, int64(10000), int64(0))
	}
	f.Add(int64(8000), int64(1<<40), int64(math.MaxInt64), int64(math.MinInt64))
	f.Fuzz(func(t *testing.T, cpu, memory, capacity, ageSeconds int64) {
		hot, cold := loaded("hot", 60), loaded("cold", 10)
		hot.Metric.Pods[0].Usage = nodeload.AmountsOf(corev1.ResourceList{
			corev1.ResourceCPU: *resource.NewMilliQuantity(cpu, resource.DecimalSI), corev1.ResourceMemory: *resource.NewQuantity(memory, resource.BinarySI),
		})
		hot.Status.Allocatable[corev1.ResourceCPU] = *resource.NewMilliQuantity(capacity, resource.DecimalSI)
		hot.Metric.UpdateTime = time.Unix(moment.Unix()-ageSeconds, 0)
		verdict := Decide(Input{Policy: policy(t), Now: moment, Nodes: []Node{hot, cold}}, &Trace{})
		if len(verdict.Victims) > 0 && (cpu <= 0 || memory < 0 || capacity <= 0 || ageSeconds >= 180 || ageSeconds < -60 || cpu > 6500) {
			t.Errorf("cpu %d, memory %d, capacity %d, age %d: %v leaves", cpu, memory, capacity, ageSeconds, names(verdict.Victims))
		}
	})
}
