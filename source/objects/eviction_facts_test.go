package objects

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/unknown"
	"koordinator.sh/koord/decision/nodeqos/eviction"
)

// evictsFrom configures koordlet on the pod's node, whose usage is 2 of 16 cpu and 1 of 64 GiB.
func evictsFrom(edit func(*slov1alpha1.ResourceThresholdStrategy)) func(*EvictionSnapshot) {
	return func(in *EvictionSnapshot) {
		strategy := &slov1alpha1.ResourceThresholdStrategy{Enable: new(true)}
		edit(strategy)
		in.Node.SLO = &slov1alpha1.NodeSLOSpec{ResourceUsedThresholdWithBE: strategy}
	}
}

func bestEffortFrom(memory int64) func(*EvictionSnapshot) {
	return evictsFrom(func(s *slov1alpha1.ResourceThresholdStrategy) { s.MemoryEvictThresholdPercent = &memory })
}

// batch is a best-effort pod of koordinator.
func batch(p *corev1.Pod) {
	labelled(extension.LabelPodQoS, string(extension.QoSBE))(p)
	ofPriority(5500)(p)
	requesting("kubernetes.io/batch-cpu", "1000", "kubernetes.io/batch-memory", "1Gi")(p)
}

func asksToLeave(request string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		batch(p)
		annotated(extension.AnnotationSoftEviction, request)(p)
	}
}

func TestTheAgentEvictsByItsOwnDecision(t *testing.T) {
	turnedOff := func(feature eviction.Feature) func(*EvictionSnapshot) {
		return func(in *EvictionSnapshot) { in.Node.On[feature] = false }
	}
	agreeing := func(p *corev1.Pod) {
		ofPriority(5500)(p)
		labelled(extension.LabelPodEvictEnabled, "true")(p)
	}
	usageUpTo := func(priority int32) func(*EvictionSnapshot) {
		return evictsFrom(func(s *slov1alpha1.ResourceThresholdStrategy) {
			s.EvictEnabledPriorityThreshold, s.CPUEvictThresholdPercent = &priority, new(int64(70))
		})
	}
	ofRequests := func(threshold int64) func(*EvictionSnapshot) {
		return evictsFrom(func(s *slov1alpha1.ResourceThresholdStrategy) {
			s.AllocatableEvictPriorityThreshold, s.CPUAllocatableEvictThresholdPercent, s.CPUAllocatableEvictLowerPercent = new(int32(5999)), &threshold, new(int64(1))
		})
	}
	unreported := func(in *EvictionSnapshot) {
		in.Node.Unknown = unknown.Inputs{unknown.NodeMetrics: {Reason: diagnosticsv1alpha1.UnknownForbidden}}
	}
	tests := map[string]struct {
		pod  func(*corev1.Pod)
		in   []func(*EvictionSnapshot)
		want string
	}{
		"memory has to run short": {pod: batch, in: []func(*EvictionSnapshot){bestEffortFrom(70)}, want: "possible; needs: the node must reach memory usage >= 70%, is 1% now (BEMemoryEvict)"},
		"memory is short":         {pod: batch, in: []func(*EvictionSnapshot){bestEffortFrom(1)}, want: "now"},
		"memory is short, and a budget protects it": {
			pod: batch, in: []func(*EvictionSnapshot){bestEffortFrom(1), withBudgets(budgetOf("web", 0))},
			want: "protected; because: PodDisruptionBudget web-budget allows no disruption: it needs 3 healthy pods and has 3",
		},
		"the feature is off": {
			pod: batch, in: []func(*EvictionSnapshot){bestEffortFrom(1), turnedOff(eviction.BEMemoryEvict)},
			want: "protected; because: no eviction feature of koordlet is enabled on the node",
		},
		"a pod that is not batch": {pod: ofPriority(9500), in: []func(*EvictionSnapshot){bestEffortFrom(1)}, want: "protected; because: BEMemoryEvict does not take it: it is not best effort"},
		"a latency sensitive pod": {
			pod: labelled(extension.LabelPodQoS, "LSR"), in: []func(*EvictionSnapshot){bestEffortFrom(1)},
			want: "protected; because: BEMemoryEvict does not take it: its class is LSR",
		},
		"one that is being deleted": {
			pod: func(p *corev1.Pod) { batch(p); terminating(p) }, in: []func(*EvictionSnapshot){bestEffortFrom(1)},
			want: "protected; because: BEMemoryEvict does not take it: it is being deleted",
		},
		"a policy that excludes it": {
			pod: func(p *corev1.Pod) { batch(p); annotated(extension.AnnotationPodEvictPolicy, "{")(p) }, in: []func(*EvictionSnapshot){bestEffortFrom(1)},
			want: "protected; because: BEMemoryEvict does not take it: its annotation koordinator.sh/eviction-policy does not name BEMemoryEvict",
		},
		"a prod pod that agrees": {pod: agreeing, in: []func(*EvictionSnapshot){usageUpTo(5999)}, want: "possible; needs: the node must reach cpu usage >= 70%, is 12% now (CPUEvict)"},
		"one that does not agree": {
			pod: ofPriority(5500), in: []func(*EvictionSnapshot){usageUpTo(5999)},
			want: "protected; because: CPUEvict does not take it: its label koordinator.sh/eviction-enabled is not true",
		},
		"one of too high a priority": {pod: agreeing, in: []func(*EvictionSnapshot){usageUpTo(5000)}, want: "protected; because: CPUEvict does not take it: its priority 5500 is above 5000"},
		"the requests of a tier": {
			pod: func(p *corev1.Pod) { batch(p); agreeing(p) }, in: []func(*EvictionSnapshot){ofRequests(80)},
			want: "possible; needs: the node must reach cpu requests of tier batch >= 80%, is 25% now (CPUAllocatableEvict/batch)",
		},
		"an offer of nothing": {
			pod: func(p *corev1.Pod) { batch(p); agreeing(p) }, in: []func(*EvictionSnapshot){ofRequests(80), onItsNode(func(n *corev1.Node) {
				n.Status.Allocatable["kubernetes.io/batch-cpu"] = resources("x", "0")["x"]
			})}, want: "now",
		},
		"a pod that requests nothing": {
			pod: func(p *corev1.Pod) { agreeing(p); requesting()(p) }, in: []func(*EvictionSnapshot){ofRequests(80)},
			want: "protected; because: CPUAllocatableEvict does not take it: it requests no cpu",
		},
		"usage that could not be read": {
			pod: batch, in: []func(*EvictionSnapshot){bestEffortFrom(1), unreported}, want: "unknown; unknown: BEMemoryEvict: no permission to read the NodeMetrics",
		},
		"usage that could not be read does not matter to a pod that is never taken": {
			pod: ofPriority(9500), in: []func(*EvictionSnapshot){bestEffortFrom(1), unreported}, want: "protected; because: BEMemoryEvict does not take it: it is not best effort",
		},
		"a measurement that is too old": {
			pod: batch, in: []func(*EvictionSnapshot){bestEffortFrom(1), func(in *EvictionSnapshot) { in.Node.Now = now.Add(time.Hour) }},
			want: "unknown; unknown: BEMemoryEvict: the measurement is 1h0m0s old",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, lines := explained(t, evictionOf(web("web-0", "a", tc.pod), tc.in...))
			if got := lines["agent"]; !strings.HasPrefix(got, tc.want) {
				t.Errorf("the agent is\n%s, want\n%s", got, tc.want)
			}
		})
	}
}

func TestASoftEvictionIsCarriedOutByTheAgent(t *testing.T) {
	at := func(when time.Time) string {
		return fmt.Sprintf(`{"timestamp":%q,"initiator":"upgrader","reason":"kernel"}`, when.Format(time.RFC3339))
	}
	off := func(in *EvictionSnapshot) { in.Node.On[eviction.SoftEvict] = false }
	tests := map[string]struct {
		request string
		in      []func(*EvictionSnapshot)
		want    string
	}{
		"a request that is due": {request: at(now.Add(-time.Minute)), want: "now"},
		"one of later":          {request: at(now.Add(time.Minute)), want: "possible; needs: its soft eviction waits: it is to be evicted at 2026-03-04T05:07:07Z (SoftEvict)"},
		"one that expired": {
			request: at(now.Add(-2 * time.Hour)),
			want:    "protected; because: SoftEvict does not take it: the request for its soft eviction is expired: the request of 2026-03-04T03:06:07Z is more than 1h0m0s old",
		},
		"one that cannot be read": {request: "{", want: "protected; because: SoftEvict does not take it: the request for its soft eviction is ignored: "},
		"one for another pod": {
			request: `{"deleteOptions":{"preconditions":{"uid":"older"}}}`,
			want:    `protected; because: SoftEvict does not take it: the request for its soft eviction is ignored: the request is for the pod with UID "older"`,
		},
		"the feature is off": {
			request: at(now), in: []func(*EvictionSnapshot){off},
			want: "protected; because: SoftEvict does not take it: its soft eviction is requested, and the feature is off",
		},
		"a budget holds it back": {
			request: at(now), in: []func(*EvictionSnapshot){withBudgets(budgetOf("web", 0))},
			want: "protected; because: PodDisruptionBudget web-budget allows no disruption",
		},
		"beside what the node has to have": {
			request: at(now.Add(time.Minute)), in: []func(*EvictionSnapshot){bestEffortFrom(70)},
			want: "possible; needs: the node must reach memory usage >= 70%, is 1% now (BEMemoryEvict), or its soft eviction waits: it is to be evicted at 2026-03-04T05:07:07Z (SoftEvict)",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, lines := explained(t, evictionOf(web("web-0", "a", asksToLeave(tc.request)), tc.in...))
			if got := lines["agent"]; !strings.HasPrefix(got, tc.want) {
				t.Errorf("the agent is\n%s, want\n%s", got, tc.want)
			}
		})
	}
}

func TestAQuotaRevokesWhatItLent(t *testing.T) {
	const unmonitored = "because: the scheduler does not evict pods of quotas that use too much: monitorAllQuotas is false"
	tests := map[string]struct {
		pod             func(*corev1.Pod)
		used, runtime   string
		monitors        bool
		budget          int32
		want            string
		withoutTheQuota bool
	}{
		"it uses too much":                   {used: "9", runtime: `{"cpu":"8"}`, monitors: true, budget: 1, want: "now"},
		"it uses just its runtime":           {used: "8", runtime: `{"cpu":"8"}`, monitors: true, budget: 1, want: "possible; needs: quota shop must use more than its runtime"},
		"it uses too much of something else": {used: "9", runtime: `{"memory":"8"}`, monitors: true, budget: 1, want: "possible; needs: quota shop must use more than its runtime"},
		"quotas are not monitored":           {used: "9", runtime: `{"cpu":"8"}`, budget: 1, want: "protected; " + unmonitored},
		"the pod is not preemptible": {
			pod: labelled(extension.LabelQuotaPreemptible, "false"), used: "9", runtime: `{"cpu":"8"}`, monitors: true, budget: 1,
			want: "protected; because: the pod is not preemptible",
		},
		"a budget holds it back": {
			used: "9", runtime: `{"cpu":"8"}`, monitors: true,
			want: "protected; because: PodDisruptionBudget web-budget allows no disruption: it needs 3 healthy pods and has 3",
		},
		"its runtime is not reported": {
			used: "9", monitors: true, budget: 1,
			want: "possible; needs: quota shop must use more than its runtime; unknown: the runtime of ElasticQuota shop is not reported in its annotation quota.scheduling.koordinator.sh/runtime",
		},
		"its runtime is garbage": {
			used: "9", runtime: "lots", monitors: true, budget: 1,
			want: "possible; needs: quota shop must use more than its runtime; unknown: the runtime of ElasticQuota shop is not reported in its annotation quota.scheduling.koordinator.sh/runtime",
		},
		"the pod names a quota that is not": {
			pod: labelled(extension.LabelQuotaName, "gone"), used: "9", runtime: `{"cpu":"8"}`, monitors: true, budget: 1,
			want: "possible; needs: quota gone must use more than its runtime; unknown: there is no ElasticQuota gone; the pod counts against " + extension.DefaultQuotaName,
		},
		"the pod names another quota": {
			pod: labelled(extension.LabelQuotaName, "ads"), used: "9", runtime: `{"cpu":"8"}`, monitors: true, budget: 1,
			want: "possible; needs: quota ads must use more than its runtime",
		},
		"no quota claims the pod's namespace": {withoutTheQuota: true, used: "9", monitors: true, budget: 1, want: "protected; because: the pod belongs to no quota"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := evictionOf(web("web-0", "a"), withBudgets(budgetOf("web", tc.budget)))
			if tc.pod != nil {
				tc.pod(in.Pod)
			}
			in.MonitorsQuotas = tc.monitors
			in.Quotas = append(in.Quotas, quotaUsing("ads", "marketing", "1", `{"cpu":"8"}`))
			if !tc.withoutTheQuota {
				in.Quotas = append(in.Quotas, quotaUsing("shop", "shop", tc.used, tc.runtime))
			}
			_, lines := explained(t, in)
			if got := lines["quota"]; got != tc.want {
				t.Errorf("the quota is\n%s, want\n%s", got, tc.want)
			}
		})
	}
}

func TestOnlyPodsThatTheNodeSuitsPreempt(t *testing.T) {
	never := func(p *corev1.Pod) { p.Spec.PreemptionPolicy = new(corev1.PreemptNever) }
	lower := func(p *corev1.Pod) { p.Spec.PreemptionPolicy = new(corev1.PreemptLowerPriority) }
	elsewhere := func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"pool": "gpu"} }
	tainted := func(n *corev1.Node) {
		n.Spec.Taints = []corev1.Taint{{Key: "gpu", Effect: corev1.TaintEffectNoSchedule}}
	}
	const waits = "possible; needs: a pod with a priority above 100 must wait for node a"
	tests := map[string]struct {
		pending []func(*corev1.Pod)
		node    func(*corev1.Node)
		want    string
	}{
		"nothing waits":                        {want: waits},
		"one of a higher priority":             {pending: []func(*corev1.Pod){ofPriority(101)}, want: "now"},
		"one that says so itself":              {pending: []func(*corev1.Pod){func(p *corev1.Pod) { ofPriority(101)(p); lower(p) }}, want: "now"},
		"one of the same priority":             {pending: []func(*corev1.Pod){ofPriority(100)}, want: waits},
		"one without a priority":               {pending: []func(*corev1.Pod){func(*corev1.Pod) {}}, want: waits},
		"one that never preempts":              {pending: []func(*corev1.Pod){func(p *corev1.Pod) { ofPriority(101)(p); never(p) }}, want: waits},
		"one that selects other nodes":         {pending: []func(*corev1.Pod){func(p *corev1.Pod) { ofPriority(101)(p); elsewhere(p) }}, want: waits},
		"one that the taints keep off":         {pending: []func(*corev1.Pod){ofPriority(101)}, node: tainted, want: waits},
		"one that tolerates the taints":        {pending: []func(*corev1.Pod){func(p *corev1.Pod) { ofPriority(101)(p); toleratesAll(p) }}, node: tainted, want: "now"},
		"the second of two may":                {pending: []func(*corev1.Pod){ofPriority(7), ofPriority(9000)}, want: "now"},
		"the node has enough room is not said": {pending: []func(*corev1.Pod){func(p *corev1.Pod) { ofPriority(101)(p); requesting("cpu", "16")(p) }}, want: "now"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := evictionOf(web("web-0", "a", ofPriority(100)))
			if tc.node != nil {
				tc.node(in.Node.Object)
			}
			for i, edit := range tc.pending {
				in.Pending = append(in.Pending, *pod(fmt.Sprintf("waiting-%d", i), "", resources("cpu", "1"), edit))
			}
			_, lines := explained(t, in)
			if got := lines["preemption"]; got != tc.want {
				t.Errorf("preemption is %q, want %q", got, tc.want)
			}
		})
	}
}
