package printer

import (
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

const gi = int64(1) << 30

var fixtureNow = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

func before(d time.Duration) *metav1.Time { return &metav1.Time{Time: fixtureNow.Add(-d)} }

func healthyNode(name string) diagnosticsv1alpha1.NodeOverview {
	return diagnosticsv1alpha1.NodeOverview{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		CPU: diagnosticsv1alpha1.ResourceOverview{
			Capacity: 32000, Allocatable: 31800, Used: new(int64(12500)), SystemUsed: new(int64(640)),
			ProdRequested: new(int64(24000)), ProdUsed: new(int64(8120)), MidAllocatable: new(int64(4000)), MidRequested: new(int64), MidUsed: new(int64(0)),
			BatchAllocatable: new(int64(9500)), BatchRequested: new(int64(6000)), BatchUsed: new(int64(3740)), FreeUsed: new(int64(4)), Reclaimable: new(int64(5500)),
		},
		Memory: diagnosticsv1alpha1.ResourceOverview{
			Capacity: 128 * gi, Allocatable: 126 * gi, Used: new(40 * gi), SystemUsed: new(3 * gi),
			ProdRequested: new(64 * gi), ProdUsed: new(20*gi + gi/3), MidAllocatable: new(16 * gi), MidRequested: new(int64), MidUsed: new(int64(0)),
			BatchAllocatable: new(30 * gi), BatchRequested: new(8 * gi), BatchUsed: new(int64(700 << 20)), FreeUsed: new(int64(0)), Reclaimable: new(12 * gi),
		},
		Metric: diagnosticsv1alpha1.MetricFacts{State: diagnosticsv1alpha1.MetricFresh, UpdateTime: before(42 * time.Second), ReportIntervalSeconds: 60},
		Load:   diagnosticsv1alpha1.LoadOverview{State: diagnosticsv1alpha1.LoadNormal},
		Ready:  true, Pods: new(int32(23)),
	}
}

func nodesFixture() *diagnosticsv1alpha1.NodeOverviewList {
	hot := healthyNode("worker-2")
	hot.Load.State = diagnosticsv1alpha1.LoadHot
	hot.CPU.Used, hot.CPU.ProdUsed = new(int64(29000)), new(int64(27000))
	hot.CPU.BatchAllocatable = new(int64(1200))
	hot.Balance = &diagnosticsv1alpha1.BalanceOverview{State: diagnosticsv1alpha1.BalanceOverutilized, Plugin: "LowNodeLoad", Message: "cpu 91% > 75%"}
	stale := healthyNode("worker-3-with-a-name-longer-than-most-of-them")
	stale.Load.State = diagnosticsv1alpha1.LoadExpired
	stale.Metric = diagnosticsv1alpha1.MetricFacts{State: diagnosticsv1alpha1.MetricExpired, UpdateTime: before(20 * time.Minute)}
	stale.CPU.BatchAllocatable, stale.Memory.BatchAllocatable = new(int64(0)), new(int64(0))
	stale.CPU.MidAllocatable, stale.Memory.MidAllocatable = nil, nil
	stale.Balance = &diagnosticsv1alpha1.BalanceOverview{State: diagnosticsv1alpha1.BalanceUnknown, Plugin: "LowNodeLoad"}
	bare := diagnosticsv1alpha1.NodeOverview{
		ObjectMeta: metav1.ObjectMeta{Name: "worker-4"}, Unschedulable: true,
		CPU:    diagnosticsv1alpha1.ResourceOverview{Capacity: 4000, Allocatable: 3900, ProdRequested: new(int64(250)), MidRequested: new(int64), BatchRequested: new(int64)},
		Memory: diagnosticsv1alpha1.ResourceOverview{Capacity: 8 * gi, Allocatable: 7 * gi, ProdRequested: new(int64), MidRequested: new(int64), BatchRequested: new(int64)}, Pods: new(int32),
		Metric: diagnosticsv1alpha1.MetricFacts{State: diagnosticsv1alpha1.MetricAbsent},
		Load:   diagnosticsv1alpha1.LoadOverview{State: diagnosticsv1alpha1.LoadUnknown},
	}
	first := healthyNode("worker-1")
	first.Balance = &diagnosticsv1alpha1.BalanceOverview{State: diagnosticsv1alpha1.BalanceUnderutilized, Plugin: "LowNodeLoad"}
	return &diagnosticsv1alpha1.NodeOverviewList{Items: []diagnosticsv1alpha1.NodeOverview{first, hot, stale, bare}}
}

func podsFixture() *diagnosticsv1alpha1.PodOverviewList {
	return &diagnosticsv1alpha1.PodOverviewList{Items: []diagnosticsv1alpha1.PodOverview{
		{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-7d9c5b6f4-abcde"}, QoSClass: "LS", PriorityBand: "koord-prod",
			Phase: corev1.PodRunning, NodeName: "worker-1", ObservedAt: before(42 * time.Second),
			CPU:    diagnosticsv1alpha1.PodResourceOverview{Tier: "plain", Requested: 4000, Limit: new(int64(8000)), Used: new(int64(812))},
			Memory: diagnosticsv1alpha1.PodResourceOverview{Tier: "plain", Requested: 8 * gi, Limit: new(8 * gi), Used: new(3 * gi)},
		},
		{
			ObjectMeta: metav1.ObjectMeta{Namespace: "spark", Name: "executor-1"}, QoSClass: "BE", PriorityBand: "koord-batch",
			Phase: corev1.PodRunning, NodeName: "worker-2", ObservedAt: before(3 * time.Minute),
			CPU:    diagnosticsv1alpha1.PodResourceOverview{Tier: "batch", Requested: 1000, Used: new(int64(1900))},
			Memory: diagnosticsv1alpha1.PodResourceOverview{Tier: "batch", Requested: 2 * gi, Used: new(int64(700 << 20))},
		},
		{
			ObjectMeta: metav1.ObjectMeta{Namespace: "spark", Name: "executor-2"}, QoSClass: "BE",
			Phase:  corev1.PodPending,
			CPU:    diagnosticsv1alpha1.PodResourceOverview{Tier: "batch", Requested: 500},
			Memory: diagnosticsv1alpha1.PodResourceOverview{Tier: "batch", Requested: gi / 2},
		},
	}}
}

func nodeExplanationFixture() *diagnosticsv1alpha1.NodeExplanation {
	cpu := diagnosticsv1alpha1.MilliCPU
	metric := func(field string) *diagnosticsv1alpha1.SourceRef {
		return &diagnosticsv1alpha1.SourceRef{Kind: "NodeMetric", Name: "worker-1", Field: field}
	}
	config := &diagnosticsv1alpha1.SourceRef{Kind: "ConfigMap", Namespace: "koordinator-system", Name: "slo-controller-config", Field: "data.colocation-config"}
	age := before(42 * time.Second)
	return &diagnosticsv1alpha1.NodeExplanation{
		ObjectMeta: metav1.ObjectMeta{Name: "worker-1"},
		Status: diagnosticsv1alpha1.NodeExplanationStatus{
			Summary: "worker-1 can offer 9.5 cores and 30Gi to batch: prod uses 8.1 cores of the 24 it requested.",
			Node: diagnosticsv1alpha1.NodeFacts{Name: "worker-1", Ready: true, Pods: new(int32(23)), Capacity: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("32"), corev1.ResourceMemory: resource.MustParse("128Gi"),
			}},
			Metric: diagnosticsv1alpha1.MetricFacts{State: diagnosticsv1alpha1.MetricFresh, UpdateTime: age, ReportIntervalSeconds: 60},
			Strategy: []diagnosticsv1alpha1.Setting{
				{Key: "cpuReclaimThresholdPercent", Value: "60", Layer: "cluster"},
				{Key: "cpuCalculatePolicy", Value: "usage", Layer: "default"},
			},
			Waterfalls: []diagnosticsv1alpha1.Waterfall{{
				Resource: "kubernetes.io/batch-cpu", Unit: cpu, Policy: "usage", Result: 9500,
				Terms: []diagnosticsv1alpha1.Term{
					{Name: "capacity", Operator: diagnosticsv1alpha1.Start, Value: 32000, Unit: cpu, Source: &diagnosticsv1alpha1.SourceRef{Kind: "Node", Name: "worker-1", Field: "status.capacity.cpu"}},
					{Name: "margin", Operator: diagnosticsv1alpha1.Minus, Value: 12800, Unit: cpu, Source: config, Note: "100% - cpuReclaimThresholdPercent 60%"},
					{Name: "systemUsed", Operator: diagnosticsv1alpha1.Minus, Value: 640, Unit: cpu, Source: metric("status.nodeMetric.systemUsage"), ObservedAt: age},
					{Name: "prodUsed", Operator: diagnosticsv1alpha1.Minus, Value: 8120, Unit: cpu, Source: metric("status.podsMetric"), ObservedAt: age, PartsOmitted: 19, Parts: []diagnosticsv1alpha1.Term{
						{Name: "shop/web-7d9c5b6f4-abcde", Operator: diagnosticsv1alpha1.Plus, Value: 4100, Unit: cpu, Source: &diagnosticsv1alpha1.SourceRef{Kind: "Pod", Namespace: "shop", Name: "web-7d9c5b6f4-abcde"}, ObservedAt: age},
						{Name: "shop/cart-0", Operator: diagnosticsv1alpha1.Plus, Value: 4020, Unit: cpu, Source: &diagnosticsv1alpha1.SourceRef{Kind: "Pod", Namespace: "shop", Name: "cart-0"}, ObservedAt: age},
					}},
					{Name: "batchUsed", Operator: diagnosticsv1alpha1.Info, Value: 3740, Unit: cpu, Source: metric("status.podsMetric"), ObservedAt: age},
					{Name: "batch-cpu", Operator: diagnosticsv1alpha1.Result, Value: 9500, Unit: cpu},
				},
			}},
			Published: []diagnosticsv1alpha1.PublishedResource{{
				Resource: "kubernetes.io/batch-cpu", Unit: cpu, Published: new(int64(9200)), Computed: new(int64(9500)), State: diagnosticsv1alpha1.WithinThreshold,
				Reason: "3% apart is under resourceDiffThreshold 10%; written at the latest in 3m",
			}},
			Findings: []diagnosticsv1alpha1.Finding{{
				Code: "KOORD0202", Severity: diagnosticsv1alpha1.SeverityWarning, Message: "node strategies \"a\" and \"b\" both select worker-1; \"a\" wins",
				Hint: "make the selectors disjoint", Object: config,
			}},
			Origin: diagnosticsv1alpha1.Origin{Component: "koord-manager", Instance: "koord-manager-0", EvaluatedAt: *before(0), DurationMicroseconds: 1240},
		},
	}
}

func pendingPodFixture() *diagnosticsv1alpha1.PodExplanation {
	return &diagnosticsv1alpha1.PodExplanation{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-1"},
		Status: diagnosticsv1alpha1.PodExplanationStatus{
			Verdict: diagnosticsv1alpha1.PodUnschedulable, Code: "KOORD1102",
			Summary: "0/30 nodes are available: 28 node(s) cpu usage above 65%, 2 node(s) had untolerated taint gpu=true:NoSchedule.",
			Pod: diagnosticsv1alpha1.PodFacts{
				Namespace: "shop", Name: "web-1", QoSClass: "LS", PriorityBand: "koord-prod", SchedulerName: "koord-scheduler",
				Phase: corev1.PodPending, CreatedAt: before(3 * time.Minute),
				Requests:       corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("8Gi"), "nvidia.com/gpu": resource.MustParse("1"), "kubernetes.io/batch-cpu": resource.MustParse("1500")},
				EstimatedUsage: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("3400m"), corev1.ResourceMemory: resource.MustParse("5734Mi")},
			},
			NodesTotal: 30,
			Groups: []diagnosticsv1alpha1.RefusalGroup{
				{Plugin: "LoadAwareScheduling", Code: "KOORD1102", Reason: "node(s) cpu usage exceed threshold", Message: "cpu usage 62% + this pod 11% > threshold 65%", Count: 28, Sole: 27, Nodes: []diagnosticsv1alpha1.NodeRefusal{
					{Node: "worker-7", Message: "cpu usage 62% + this pod 11% > threshold 65%"},
					{Node: "worker-9", Message: "cpu usage 70% + this pod 11% > threshold 65%", Others: 1},
				}},
				{Plugin: "TaintToleration", Code: "KOORD1902", Reason: "node(s) had untolerated taint(s)", Message: "the pod does not tolerate the taint gpu=true:NoSchedule", Count: 2, Sole: 2, Nodes: []diagnosticsv1alpha1.NodeRefusal{{Node: "gpu-1", Message: "the pod does not tolerate the taint gpu=true:NoSchedule"}}},
			},
			Fix: &diagnosticsv1alpha1.Fix{
				Target: diagnosticsv1alpha1.FixPod, Kind: "reduceRequest", Description: "reduce the pod's cpu request from 4 to 0.98 (by 3.02)", Node: "worker-7", NodesUnlocked: 3, Verified: true,
				Command: "kubectl -n shop set resources deployment web --requests=cpu=980m",
			},
			Origin: diagnosticsv1alpha1.Origin{Component: "koord-scheduler", Instance: "sched-0", Leader: true, EvaluatedAt: *before(0), DurationMicroseconds: 48200},
		},
	}
}

// ownedFixture is a pending pod whose Deployment has to be changed, and that is an owner of reservations.
func ownedFixture() *diagnosticsv1alpha1.PodExplanation {
	e := pendingPodFixture()
	e.Status.Fix.Recreate, e.Status.Fix.Owner = true, "Deployment/web"
	e.Status.Fix.Command = `kubectl patch deployment -n shop web -p '{"spec":{"template":{"spec":{"containers":[{"name":"main","resources":{"requests":{"cpu":"980m"}}}]}}}}'`
	e.Status.Reservations = &diagnosticsv1alpha1.ReservationCensus{Matched: 5, Refusals: []diagnosticsv1alpha1.ReservationRefusal{
		{Code: "KOORD1157", Reason: "reservation has allocateOnce enabled and has already been allocated", Count: 3, Names: []string{"nightly-1", "nightly-2"}},
		{Code: "KOORD1158", Reason: "is unschedulable", Count: 1, Names: []string{"sale"}},
	}}
	return e
}

// hintedFixture is a worker of a query engine with a scheduling hint.
func hintedFixture() *diagnosticsv1alpha1.PodExplanation {
	e := boundPodFixture()
	e.Status.Pod.Hint = &diagnosticsv1alpha1.PodHint{
		Summary: "koord-manager's scheduling hint for this worker of engine trino prefers 4 nodes", Writer: "koord-manager", WrittenAt: before(2 * time.Minute),
		Preferred: []diagnosticsv1alpha1.HintedNode{
			{Node: "node-3", Message: "0 workers, 0 caches, 24% of memory used, up to 31% predicted"},
			{Node: "node-7", Message: "0 workers, 0 caches, 38% of memory used"},
			{Node: "node-1", Message: "1 worker, 1 cache, 22% of memory used"}, {Node: "node-4", Message: "2 workers, 1 cache, 22% of memory used"},
		},
		LeftOut: []diagnosticsv1alpha1.HintLeftOut{
			{Reason: "memory is hot: 80% or more is used", Count: 5, Nodes: []string{"node-2 (91%)", "node-9 (84%)", "node-11 (83%)"}},
			{Reason: "memory was last measured more than 3m0s ago", Count: 1, Nodes: []string{"node-6 (12m0s ago)"}},
			{Reason: "the pod may not run there", Count: 2, Nodes: []string{"gpu-1", "gpu-2"}},
		},
	}
	return e
}

// jobFixture is a pending pod of a Job.
func jobFixture() *diagnosticsv1alpha1.PodExplanation {
	e := pendingPodFixture()
	e.Status.Fix.Recreate, e.Status.Fix.Owner, e.Status.Fix.Command = true, "Job/train", ""
	return e
}

// refusedFixFixture is a pending pod whose fix the API server refuses in one step and the user may not make in another.
func refusedFixFixture() *diagnosticsv1alpha1.PodExplanation {
	e := pendingPodFixture()
	e.Status.Fix.Verified = false
	e.Status.Fix.DryRun = &diagnosticsv1alpha1.FixDryRun{
		Verdict: diagnosticsv1alpha1.DryRunRefused,
		Requests: []diagnosticsv1alpha1.FixRequest{
			{Right: "patch nodes", Verdict: diagnosticsv1alpha1.DryRunForbidden, Message: `not permitted for user "eve"`},
			{Right: "patch pods in namespace shop", Verdict: diagnosticsv1alpha1.DryRunRefused, Message: "labels: may not change (KOORD1305)"},
		},
	}
	return e
}

// tenantFixture is a pending pod as a user sees it who may get nothing beside it.
func tenantFixture() *diagnosticsv1alpha1.PodExplanation {
	e := pendingPodFixture()
	for i := range e.Status.Groups {
		e.Status.Groups[i].Nodes, e.Status.Groups[i].Message = nil, e.Status.Groups[i].Reason
	}
	e.Status.Fix.Node, e.Status.Origin.Instance = "", ""
	e.Status.FixBeyondRights = &diagnosticsv1alpha1.FixBeyondRights{Kind: "uncordon", Needs: []string{"get nodes", "patch nodes"}, Objects: 1, NodesUnlocked: 2}
	e.Status.Withheld = []diagnosticsv1alpha1.Withheld{{Resource: "elasticquotas.scheduling.sigs.k8s.io", Count: 1}, {Resource: "nodes", Count: 30}}
	return e
}

// preemptionFixture is a pending pod for which pods would be evicted.
func preemptionFixture() *diagnosticsv1alpha1.PodExplanation {
	e := pendingPodFixture()
	e.Status.Fix = nil
	e.Status.Preemption = &diagnosticsv1alpha1.Preemption{
		Verdict: diagnosticsv1alpha1.PreemptionEvicts, Plugin: "DefaultPreemption", NodeName: "worker-7", BudgetViolations: 1, NodesTried: 28, NodesHelped: 3,
		Message:  "DefaultPreemption would evict 6 pods from node worker-7, of which a disruption budget protects 1",
		Refusals: []diagnosticsv1alpha1.PreemptionRefusal{{Reason: "No preemption victims found for incoming pod", Count: 25}},
	}
	for i := range 6 {
		if i == 5 {
			e.Status.Preemption.Victims = append(e.Status.Preemption.Victims, diagnosticsv1alpha1.PreemptionVictim{ReservationName: "nightly", Priority: 100})
			continue
		}
		e.Status.Preemption.Victims = append(e.Status.Preemption.Victims, diagnosticsv1alpha1.PreemptionVictim{Namespace: "spark", Name: fmt.Sprintf("executor-%d", i), Priority: int32(5999 - i)})
	}
	return e
}

// helplessFixture is a pending pod for which no eviction makes room.
func helplessFixture() *diagnosticsv1alpha1.PodExplanation {
	e := pendingPodFixture()
	e.Status.Preemption = &diagnosticsv1alpha1.Preemption{
		Verdict: diagnosticsv1alpha1.PreemptionHelpless, Plugin: "DefaultPreemption", NodesTried: 2,
		Message: "evicting pods with lower priority does not help on any of the 2 nodes tried",
		Declined: []diagnosticsv1alpha1.PreemptionDecline{
			{Plugin: "ElasticQuota", Message: "none of the 3 pods of quota team-a gives way: 2 at least as important, 1 not preemptible"},
		},
		Refusals: []diagnosticsv1alpha1.PreemptionRefusal{
			{Reason: "Preemption is not helpful for scheduling", Count: 28},
			{Plugin: "NodeResourcesFit", Code: "KOORD1901", Reason: "Insufficient cpu", Count: 2},
		},
	}
	return e
}

// historyFixture is a pod that found its node at the third attempt, the second of which is forgotten.
func historyFixture() *diagnosticsv1alpha1.PodExplanation {
	at := func(ago time.Duration) metav1.MicroTime { return metav1.MicroTime{Time: before(ago).Time} }
	e := boundPodFixture()
	e.Status.Placement = nil
	e.Status.History = []diagnosticsv1alpha1.SchedulingAttempt{
		{Number: 1, Time: at(26 * time.Hour), Outcome: diagnosticsv1alpha1.AttemptUnschedulable, NominatedNodeName: "worker-5", Refusals: []diagnosticsv1alpha1.AttemptRefusal{
			{Plugin: "NodeResourcesFit", Reason: "Insufficient cpu", Count: 20}, {Plugin: "LoadAwareScheduling", Reason: "node(s) cpu usage exceed threshold", Count: 10},
		}},
		{Number: 3, Time: at(3 * time.Minute), Outcome: diagnosticsv1alpha1.AttemptFailed, NodeName: "worker-5", Message: "bind pod shop/web-0 to node worker-5: the object has been modified",
			Differences: []string{"Unschedulable -> Failed", "NodeResourcesFit: Insufficient cpu: 20 -> 0 nodes"}},
		{Number: 4, Time: at(2 * time.Minute), Outcome: diagnosticsv1alpha1.AttemptPlaced, NodeName: "worker-1", NodesFeasible: 12, Differences: []string{"Failed -> Placed"},
			Scores: []diagnosticsv1alpha1.NodeScore{{Node: "worker-1", Total: 361}, {Node: "worker-5", Total: 350}}},
	}
	e.Status.Siblings = []diagnosticsv1alpha1.SiblingAttempt{
		{PodName: "web-1", Time: at(4 * time.Minute), Outcome: diagnosticsv1alpha1.AttemptUnschedulable}, {PodName: "web-2", Time: at(5 * time.Minute), Outcome: diagnosticsv1alpha1.AttemptPlaced, NodeName: "worker-2"},
	}
	return e
}

func boundPodFixture() *diagnosticsv1alpha1.PodExplanation {
	return &diagnosticsv1alpha1.PodExplanation{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-0"},
		Status: diagnosticsv1alpha1.PodExplanationStatus{
			Verdict: diagnosticsv1alpha1.PodBound, Summary: "web-0 runs on worker-1, which is still the best of 12 nodes.",
			Pod: diagnosticsv1alpha1.PodFacts{Namespace: "shop", Name: "web-0", QoSClass: "LS", NodeName: "worker-1", Phase: corev1.PodRunning},
			Placement: &diagnosticsv1alpha1.Placement{Node: "worker-1", Rank: 1, Note: "The scores are those of now; when the pod was placed 5m ago, the load was another.", Scores: []diagnosticsv1alpha1.NodeScore{
				{Node: "worker-1", Total: 361, Plugins: []diagnosticsv1alpha1.PluginScore{{Plugin: "TaintToleration", Score: 200, Weight: 3}, {Plugin: "LoadAwareScheduling", Score: 88, Weight: 1}, {Plugin: "NodeResourcesFit", Score: 73, Weight: 1}, {Plugin: "ImageLocality", Score: 0, Weight: 1}}},
				{Node: "worker-5", Total: 350, Plugins: []diagnosticsv1alpha1.PluginScore{{Plugin: "TaintToleration", Score: 200, Weight: 3}, {Plugin: "LoadAwareScheduling", Score: 79, Weight: 1}, {Plugin: "NodeResourcesFit", Score: 71, Weight: 1}}},
			}},
		},
	}
}

// status is an installation of which some works, and what is wrong with the rest.
func status(w io.Writer, o Options) error {
	parts := []Part{
		{Name: "release/koordinator", State: "Ready", Role: Good, Detail: "revision 2 deployed 5m ago, chart 0.1.0"},
		{Name: "koord-manager", State: "Down", Role: Bad, Ready: "0/2", Detail: "no replica leads"},
		{Name: "koord-scheduler", State: "Degraded", Role: Warn, Ready: "1/2", Detail: "led by koord-scheduler-5d8f7c6b9-x2x4z_0d3c1b9e-7c1c-4b0e-a1a5-0c6a7a2f5b11, renewed 1s ago"},
		{Name: "apiservice/v1alpha1.diagnostics.koordinator.sh", State: "Ready", Role: Good},
	}
	if err := Parts(w, parts, o); err != nil {
		return err
	}
	return Findings(w, []diagnosticsv1alpha1.Finding{
		{
			Code: "KOORD0202", Severity: diagnosticsv1alpha1.SeverityWarning, Hint: "koordctl config edit",
			Message: `colocation-config: node "node-1" matches node strategy #1 and also node strategy #2; the first one wins (so it is on 1 more node)`,
			Object:  &diagnosticsv1alpha1.SourceRef{Kind: "ConfigMap", Namespace: "koordinator-system", Name: "slo-controller-config", Field: "data[colocation-config]"},
		},
		{Code: "KOORD0601", Severity: diagnosticsv1alpha1.SeverityError, Message: `release "koordinator" is failed: timed out`, Hint: "koordctl install"},
	}, o)
}
