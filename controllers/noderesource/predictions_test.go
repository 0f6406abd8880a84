package noderesource

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/noderesource/overcommit"
)

const predicting = `{"enable": true, "nodeConfigs": [
	{"name": "calm", "nodeSelector": {"matchLabels": {"pool": "calm"}}, "extensions": {"predictor": {"batch": "aggressive", "mid": "n-sigma", "coldStartMinutes": 0}}},
	{"name": "careful", "nodeSelector": {"matchLabels": {"pool": "careful"}}, "extensions": {"predictor": {"batch": "safe", "mid": "safe"}}},
	{"name": "off", "nodeSelector": {"matchLabels": {"pool": "off"}}, "extensions": {"predictor": {"batch": "none"}}}]}`

// at is the input of node-a some minutes past noon, when its pod uses so many cpus.
func at(t *testing.T, pool string, minutes int, cpus int64) overcommit.NodeInput {
	t.Helper()
	node, metric := testNode(nil), testMetric(0)
	node.Labels = map[string]string{"pool": pool}
	now := noon.Add(time.Duration(minutes) * time.Minute)
	metric.Status.UpdateTime = &metav1.Time{Time: now}
	metric.Status.PodsMetric[0].PodUsage = slov1alpha1.ResourceMap{ResourceList: corev1.ResourceList{
		"cpu": *resource.NewQuantity(cpus, resource.DecimalSI), "memory": resource.MustParse("1G"),
	}}
	config, _ := store(t, predicting).Config()
	return overcommit.NodeInput{Node: node, Metric: metric, Pods: []*corev1.Pod{testPod()}, Strategy: config.Colocation(node), Now: now}
}

func TestPredictionsFollowThePoolOfTheNode(t *testing.T) {
	p := NewPredictions()
	for minute, cpus := range map[int]int64{0: 1} {
		got := p.Of(at(t, "calm", minute, cpus))
		if got.Batch == nil || got.Mid == nil || got.Batch.Profile != "aggressive" || got.Mid.Profile != "n-sigma" {
			t.Fatalf("predictions are %+v", got)
		}
	}
	for step := range 40 {
		p.Of(at(t, "calm", step*5, int64(1+2*(step/2%2))))
	}
	got := p.Of(at(t, "calm", 200, 1))
	// Steps of one and of three cpus: a mean of two, a deviation of one.
	if peak := got.Batch.CPU.Peak.Value; peak < 4.9 || peak > 5.1 {
		t.Errorf("the peak is %g, want about 5: %+v", peak, got.Batch)
	}
	if len(p.nodes) != 1 {
		t.Errorf("%d nodes are observed", len(p.nodes))
	}
	for _, pool := range []string{"off", "other"} {
		if got := p.Of(at(t, pool, 205, 1)); got != (overcommit.Predictions{}) || len(p.nodes) != 0 {
			t.Errorf("pool %s has predictions %+v, %d nodes are observed", pool, got, len(p.nodes))
		}
	}
}

// TestTheMetricsSayHowPredictorsDo lets use triple after an hour.
func TestTheMetricsSayHowPredictorsDo(t *testing.T) {
	p := NewPredictions()
	for minute := 0; minute <= 130; minute += 10 {
		cpus := int64(2)
		if minute >= 70 {
			cpus = 6
		}
		p.Of(at(t, "calm", minute, cpus))
	}
	// Predictions are made every ten minutes from minute 0 and judged an hour and a step later, so six of them are over: the
	// first came true, five were made before the rise and exceeded.
	want := fmt.Sprintf(`# HELP slo_controller_node_prediction_points_total Number of predictions whose horizon has passed.
# TYPE slo_controller_node_prediction_points_total counter
%[1]s_points_total{pool="calm",profile="aggressive",resource="cpu",tier="batch"} 7
%[1]s_points_total{pool="calm",profile="aggressive",resource="memory",tier="batch"} 7
# HELP slo_controller_node_prediction_violations_total Number of predictions that the usage of the pods exceeded within the horizon.
# TYPE slo_controller_node_prediction_violations_total counter
%[1]s_violations_total{pool="calm",profile="aggressive",resource="cpu",tier="batch"} 6
%[1]s_violations_total{pool="calm",profile="aggressive",resource="memory",tier="batch"} 0
`, "slo_controller_node_prediction")
	if err := testutil.CollectAndCompare(p, strings.NewReader(want), "slo_controller_node_prediction_points_total", "slo_controller_node_prediction_violations_total"); err != nil {
		t.Error(err)
	}
	if n := testutil.CollectAndCount(p, "slo_controller_node_prediction_savings_ratio", "slo_controller_node_prediction_severity_ratio", "slo_controller_node_prediction_violation_ratio"); n != 6 {
		t.Errorf("%d gauges", n)
	}
}

// TestTheControllerOffersWhatIsPredicted has a node whose pod used eleven cpus and now uses one: batch keeps what it may use
// again.
func TestTheControllerOffersWhatIsPredicted(t *testing.T) {
	busy, idle := at(t, "calm", -30, 11), at(t, "calm", 0, 1)
	h := newHarness(t, store(t, predicting), idle.Node, idle.Metric, testPod())
	h.predictions = NewPredictions()
	h.predictions.Of(busy)
	h.run(t)
	want := overcommit.Calculate(func() overcommit.NodeInput { in := idle; in.Predictions = h.predictions.Of(in); return in }(), nil)
	plain := overcommit.Calculate(idle, nil)
	if want.BatchCPU.Value >= plain.BatchCPU.Value {
		t.Fatalf("the case is no test: %d with and %d without prediction", want.BatchCPU.Value, plain.BatchCPU.Value)
	}
	status, _ := h.patches[0]["status"].(map[string]any)
	allocatable, _ := status["allocatable"].(map[string]any)
	quantity := resource.MustParse(fmt.Sprint(allocatable["kubernetes.io/batch-cpu"]))
	if quantity.Value() != want.BatchCPU.Value {
		t.Errorf("the controller wrote %v, want %d", allocatable, want.BatchCPU.Value)
	}
}

// TestARestartRaisesNoOfferAtOnce has a node whose service used eleven of the twenty cpus that it requests, and uses one when the
// history is lost: while it is cold, it counts by its request, and then mid is what the node agent says, which has not
// forgotten.
func TestARestartRaisesNoOfferAtOnce(t *testing.T) {
	input := func(minutes int, cpus int64) overcommit.NodeInput {
		in := at(t, "careful", minutes, cpus)
		in.Metric.Status.ProdReclaimableMetric = &slov1alpha1.ReclaimableMetric{Resource: slov1alpha1.ResourceMap{ResourceList: list("cpu", "5", "memory", "1G")}}
		return in
	}
	offer := func(p *Predictions, in overcommit.NodeInput) [2]int64 {
		in.Predictions = p.Of(in)
		result := overcommit.Calculate(in, nil)
		return [2]int64{result.BatchCPU.Value, result.MidCPU.Value}
	}
	kept, lost := NewPredictions(), NewPredictions()
	for step := range 160 {
		offer(kept, input(step*10, []int64{11, 1}[step%2]))
	}
	for step := range 12 {
		in := input((160+step)*10, 1)
		before, after := offer(kept, in), offer(lost, in)
		cold := step < 2 // thirty minutes are not over before the third step
		if cold && (after[0] > before[0] || after[1] > before[1]) {
			t.Errorf("%d minutes after the restart batch-cpu and mid-cpu are %v, and would have been %v", step*10, after, before)
		}
		if !cold && after[1] != 5000 {
			t.Errorf("%d minutes after the restart mid-cpu is %d, want what the agent says", step*10, after[1])
		}
	}
}

// BenchmarkPredictionsMemory fills the history of nodes with a day and a step of 30 pods each.
func BenchmarkPredictionsMemory(b *testing.B) {
	const nodes, pods, minutesOfADay = 100, 30, 24 * 60
	config, _ := store(b, predicting).Config()
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		p := NewPredictions()
		for i := range nodes {
			in := busyNode(i, pods)
			in.Strategy = config.Colocation(in.Node)
			for minutes := 0; minutes <= minutesOfADay+20; minutes += 10 {
				in.Now = noon.Add(time.Duration(minutes) * time.Minute)
				in.Metric.Status.UpdateTime = &metav1.Time{Time: in.Now}
				p.Of(in)
			}
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(nodes*pods), "B/pod")
		runtime.KeepAlive(p)
	}
}

// busyNode is a node of the pool with predictors, with a number of pods that use something.
func busyNode(i, pods int) overcommit.NodeInput {
	node, metric := testNode(nil), testMetric(0)
	node.Name, node.Labels, metric.Status.PodsMetric = fmt.Sprintf("node-%d", i), map[string]string{"pool": "calm"}, nil
	in := overcommit.NodeInput{Node: node, Metric: metric}
	for j := range pods {
		pod := testPod()
		pod.Name, pod.UID, pod.Spec.NodeName = fmt.Sprintf("pod-%d-%d", i, j), types.UID(fmt.Sprintf("%08d-0000-0000-0000-%012d", i, j)), node.Name
		in.Pods = append(in.Pods, pod)
		metric.Status.PodsMetric = append(metric.Status.PodsMetric, &slov1alpha1.PodMetricInfo{
			Namespace: pod.Namespace, Name: pod.Name, Priority: extension.PriorityProd, QoS: extension.QoSLS,
			PodUsage: slov1alpha1.ResourceMap{ResourceList: corev1.ResourceList{"cpu": resource.MustParse("300m"), "memory": resource.MustParse("1G")}},
		})
	}
	return in
}

// TestAheadReachesAsFarAsThePredictors asks about a node whose predictors are aggressive for an hour and n-sigma for a day, and
// that has been observed for three hours.
func TestAheadReachesAsFarAsThePredictors(t *testing.T) {
	p := NewPredictions()
	for minute := 0; minute <= 180; minute += 10 {
		p.Of(at(t, "calm", minute, 2))
	}
	ahead := p.Ahead(at(t, "calm", 180, 2))
	if len(ahead) != 3 || ahead[0].Profile != "aggressive" || ahead[1].Profile != "n-sigma" || ahead[2].Horizon != 3*time.Hour || ahead[2].CPU.Peak.Value != 2 {
		t.Errorf("%d predictions ahead: %+v", len(ahead), ahead)
	}
	if ahead := p.Ahead(at(t, "other", 60, 2)); ahead != nil {
		t.Errorf("without a predictor %+v is predicted", ahead)
	}
}
