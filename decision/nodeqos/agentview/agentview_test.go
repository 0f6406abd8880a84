package agentview

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
	"koordinator.sh/koord/decision/core/freshness"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/core/unknown"
	"koordinator.sh/koord/decision/nodeqos/eviction"
	"koordinator.sh/koord/decision/nodeqos/suppression"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

func list(pairs ...string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		out[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return out
}

func pod(name string, class extension.QoSClass, owned string) *corev1.Pod {
	out := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: map[string]string{extension.LabelPodQoS: string(class)}, Annotations: map[string]string{}},
		Spec: corev1.PodSpec{
			NodeName: "n", Priority: new(int32(5500)),
			Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: list("kubernetes.io/batch-cpu", "1000", "kubernetes.io/batch-memory", "1Gi")}}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
	if owned != "" {
		out.Spec.Priority, out.Spec.Containers[0].Resources.Requests = new(int32(9500)), list("cpu", "2")
		out.Annotations[extension.AnnotationResourceStatus] = `{"cpuset":"` + owned + `"}`
	}
	return out
}

// node has eight CPUs, of which two belong to an LSE pod and two to an LSR pod, and holds best effort to half.
func node() *Node {
	metric := &slov1alpha1.NodeMetric{Status: slov1alpha1.NodeMetricStatus{
		UpdateTime: &metav1.Time{Time: noon.Add(-30 * time.Second)},
		NodeMetric: &slov1alpha1.NodeMetricInfo{NodeUsage: slov1alpha1.ResourceMap{ResourceList: list("cpu", "2", "memory", "7Gi")}},
		PodsMetric: []*slov1alpha1.PodMetricInfo{nil, {Namespace: "shop", Name: "batch", PodUsage: slov1alpha1.ResourceMap{ResourceList: list("cpu", "1", "memory", "2Gi")}}},
	}}
	var cpus []string
	for _, id := range "01234567" {
		cpus = append(cpus, strings.ReplaceAll(`{"id":N,"core":N,"socket":0,"node":0}`, "N", string(id)))
	}
	n := &Node{
		Now: noon,
		Object: &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: "n", Annotations: map[string]string{extension.AnnotationNodeReservation: `{"reservedCPUs":"7"}`}},
			Status: corev1.NodeStatus{
				Capacity:    list("cpu", "8", "memory", "10Gi"),
				Allocatable: list("cpu", "8", "memory", "10Gi", "kubernetes.io/batch-cpu", "4000", "kubernetes.io/batch-memory", "4Gi"),
			},
		},
		SLO: &slov1alpha1.NodeSLOSpec{ResourceUsedThresholdWithBE: &slov1alpha1.ResourceThresholdStrategy{
			Enable: new(true), CPUSuppressThresholdPercent: new(int64(50)), MemoryEvictThresholdPercent: new(int64(80)),
		}},
		Topology: &topologyv1alpha1.NodeResourceTopology{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{
			extension.AnnotationNodeCPUTopology:    `{"detail":[` + strings.Join(cpus, ",") + `]}`,
			extension.AnnotationNodeCPUSharedPools: `[{"socket":0,"node":0,"cpuset":"4-6"}]`,
		}}},
		Pods: []*corev1.Pod{pod("batch", extension.QoSBE, ""), pod("trade", extension.QoSLSE, "2-3"), pod("search", extension.QoSLSR, "0-1")},
		On:   map[eviction.Feature]bool{eviction.BEMemoryEvict: true},
	}
	n.Measure(metric)
	return n
}

func TestSuppressionIsDecidedFromObjects(t *testing.T) {
	in := node().SuppressionInput()
	got, decided := Suppression(in), suppression.Decide(in, nil)
	// Half of 8 cores, less 1 that the system uses: best effort has the other of the 2.
	if got.Budget == nil || got.Budget.Result != 3000 || *got.BestEffortUsed != 1000 || got.Budget.Result != decided.Budget.Milli {
		t.Fatalf("budget %+v", got.Budget)
	}
	if last := got.Budget.Terms[len(got.Budget.Terms)-1]; last.Value != got.Budget.Result {
		t.Errorf("the terms end with %d, the budget is %d", last.Value, got.Budget.Result)
	}
	if got.Message != "best-effort pods may use 3 cores and use 1" || got.CPUNote != "3 CPUs, limited by the budget; the budget asks for 3" {
		t.Errorf("message %q, note %q", got.Message, got.CPUNote)
	}
	if strings.Contains(got.CPUs, "2-3") || got.CPUs == "" {
		t.Errorf("CPUs %q include those of an LSE pod, or are none", got.CPUs)
	}
}

// TestMeasurementsAreJudgedByTheIntervalOfKoordlet: it has a minimum, so that a report is not too old before the next one can be there.
func TestMeasurementsAreJudgedByTheIntervalOfKoordlet(t *testing.T) {
	for told, want := range map[int64]time.Duration{1: freshness.MinReportInterval, 15: freshness.MinReportInterval, 45: 45 * time.Second, 0: time.Minute, 1 << 60: time.Hour} {
		n := &Node{}
		n.Measure(&slov1alpha1.NodeMetric{
			Spec:   slov1alpha1.NodeMetricSpec{CollectPolicy: &slov1alpha1.NodeMetricCollectPolicy{ReportIntervalSeconds: &told}},
			Status: slov1alpha1.NodeMetricStatus{UpdateTime: &metav1.Time{Time: noon}, NodeMetric: &slov1alpha1.NodeMetricInfo{}},
		})
		if n.Observation.Period != want {
			t.Errorf("told to report every %d s, the period is %s; want %s", told, n.Observation.Period, want)
		}
	}
}

func TestSuppressionSaysWhyNothingChanges(t *testing.T) {
	stale, off := node(), node()
	stale.Now = noon.Add(time.Hour)
	off.SLO = nil
	tests := map[string]struct {
		node *Node
		want string
	}{
		"a measurement that is too old": {stale, "left unchanged: the measurement is"},
		"nobody asks for it":            {off, "resource-threshold-config.enable is not true"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Suppression(tc.node.SuppressionInput()); !strings.Contains(got.Message, tc.want) || got.Budget != nil {
				t.Errorf("message %q, want %q", got.Message, tc.want)
			}
		})
	}
}

func TestOwnersAndPoolsOfCPUs(t *testing.T) {
	got, missing := node().CPUs("4-6")
	want := &diagnosticsv1alpha1.CPUExplanation{
		All: "0-7", Zones: []diagnosticsv1alpha1.CPUZone{{Cores: []string{"0", "1", "2", "3", "4", "5", "6", "7"}}},
		Pools: []diagnosticsv1alpha1.CPUPool{{Name: PoolShared, NUMANode: new(int32(0)), CPUs: "4-6", Count: 3}, {Name: PoolSuppressed, CPUs: "4-6", Count: 3}},
		Owners: []diagnosticsv1alpha1.CPUOwner{
			{Namespace: "shop", Name: "search", QoSClass: "LSR", CPUs: "0-1", Count: 2, Lent: true}, {Namespace: "shop", Name: "trade", QoSClass: "LSE", CPUs: "2-3", Count: 2},
			{Name: "node reservation", CPUs: "7", Count: 1},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" || missing != "" {
		t.Errorf("missing %q, unexpected CPUs (-want +got):\n%s", missing, diff)
	}
	bare := node()
	bare.Topology = nil
	if got, missing := bare.CPUs(""); got != nil || missing == "" {
		t.Errorf("CPUs of a node that does not list them: %+v, %q", got, missing)
	}
}

func TestForecastIsTheDecisionsOwn(t *testing.T) {
	n := node()
	for i := range 4 { // a tenth of a Gi per second
		n.Samples = append(n.Samples, Sample{At: noon.Add(time.Duration(-i) * time.Second), Used: podrequest.Amount{MilliCPU: 2000, Memory: 7<<30 - int64(i)<<30/10}})
	}
	got := Evictions(n.EvictionInput(suppression.Decision{}), n.Samples, 1)
	if got.Trend == nil || got.Trend.Samples != 4 || got.Trend.OverSeconds != 3 || got.Trend.CPUPerHour != 0 {
		t.Errorf("trend %+v", got.Trend)
	}
	for _, trigger := range got.Triggers {
		if trigger.Feature != string(eviction.BEMemoryEvict) {
			if trigger.State != "off" || trigger.ObservedPercent != nil {
				t.Errorf("%s is %s", trigger.Feature, trigger.State)
			}
			continue
		}
		// 8 Gi of 10 are 80 percent: 1 Gi more, in ten seconds.
		if trigger.State != "calm" || *trigger.ObservedPercent != 70 || *trigger.Seconds != 10 || *trigger.Margin != 1<<30 {
			t.Errorf("trigger %+v in %v s", trigger, *trigger.Seconds)
		}
		want := []diagnosticsv1alpha1.EvictionCandidate{{Namespace: "shop", Name: "batch", Frees: 2 << 30, Keys: []diagnosticsv1alpha1.SortKey{
			{Name: "priority", Value: 5500, Unit: diagnosticsv1alpha1.Count}, {Name: "used", Value: 2 << 30, Unit: diagnosticsv1alpha1.Bytes, Descending: true},
		}}}
		if diff := cmp.Diff(want, trigger.Candidates); diff != "" || trigger.Protected != 2 {
			t.Errorf("%d protected, unexpected candidates (-want +got):\n%s", trigger.Protected, diff)
		}
	}
}

func TestAnAnswerSaysWhatItLacks(t *testing.T) {
	sections := func(names ...diagnosticsv1alpha1.AgentSection) *diagnosticsv1alpha1.AgentQuestion {
		return &diagnosticsv1alpha1.AgentQuestion{Sections: names}
	}
	tests := map[string]struct {
		question *diagnosticsv1alpha1.AgentQuestion
		want     []string
	}{
		"what is whole":                      {sections(diagnosticsv1alpha1.SectionCPUs), nil},
		"pods and audit":                     {sections(diagnosticsv1alpha1.SectionPods, diagnosticsv1alpha1.SectionAudit), []string{"what is set for pods", "what koordlet wrote on the node"}},
		"all that is asked without sections": {sections(), []string{"which features are on", "what is in force", "when a trigger is reached"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := node().Answer(tc.question, ByObjects, "koordlet was not asked")
			if len(got.Incomplete) != len(tc.want) {
				t.Fatalf("incomplete: %q, want %q", got.Incomplete, tc.want)
			}
			for i, want := range tc.want {
				if !strings.HasPrefix(got.Incomplete[i], want) || !strings.HasSuffix(got.Incomplete[i], "koordlet was not asked") {
					t.Errorf("incomplete: %q, want %q", got.Incomplete[i], want)
				}
			}
		})
	}
}

// without takes away inputs as a source does that may not read them.
func without(inputs ...unknown.Input) *Node {
	n := node()
	n.On = map[eviction.Feature]bool{}
	for _, feature := range eviction.Features() {
		n.On[feature] = true
	}
	n.Unknown = unknown.Inputs{}
	for _, input := range inputs {
		n.Unknown[input] = unknown.Cause{Reason: diagnosticsv1alpha1.UnknownForbidden}
		switch input {
		case unknown.Pods:
			n.Pods = nil
		case unknown.NodeSLOs:
			n.SLO = nil
		case unknown.Topologies:
			n.Topology = nil
		case unknown.NodeMetrics:
			n.Observation, n.Used, n.PodUsed = freshness.Observation{}, podrequest.Amount{}, nil
		}
	}
	return n
}

func TestNothingFollowsFromWhatCouldNotBeRead(t *testing.T) {
	yes, no := new(true), new(false)
	off := without(unknown.Pods, unknown.NodeMetrics)
	off.SLO = &slov1alpha1.NodeSLOSpec{}
	satisfying := without(unknown.Pods)
	satisfying.SLO = satisfying.SLO.DeepCopy()
	satisfying.SLO.ResourceUsedThresholdWithBE.CPUEvictBESatisfactionLowerPercent = new(int64(60))
	satisfying.SLO.ResourceUsedThresholdWithBE.CPUEvictBESatisfactionUpperPercent = new(int64(80))
	tests := map[string]struct {
		node *Node
		// wantEnabled and wantMessage of the suppression, and whether there is a budget.
		wantEnabled *bool
		wantMessage string
		wantBudget  bool
		// wantConfigured of BECPUSuppress.
		wantConfigured diagnosticsv1alpha1.FeatureState
		// wantMemory is the state of BEMemoryEvict, wantSatisfaction that of BECPUEvict, and wantCandidates why no pod is named.
		wantMemory, wantSatisfaction string
		wantCandidates               string
		wantOwners                   string
	}{
		"all was read": {node: without(), wantEnabled: yes, wantMessage: "may use 3 cores", wantBudget: true, wantConfigured: diagnosticsv1alpha1.FeatureYes,
			wantMemory: "calm", wantSatisfaction: "unset"},
		"no NodeSLO": {node: without(unknown.NodeSLOs), wantMessage: "whether best-effort pods are suppressed is unknown: no permission to read the NodeSLOs",
			wantConfigured: diagnosticsv1alpha1.FeatureUnknown, wantMemory: "unknown", wantSatisfaction: "unknown", wantCandidates: "no permission to read the NodeSLOs"},
		"no pods": {node: without(unknown.Pods), wantEnabled: yes, wantMessage: "how much CPU best-effort pods may use is unknown: no permission to read the pods",
			wantConfigured: diagnosticsv1alpha1.FeatureYes, wantMemory: "calm", wantSatisfaction: "unset", wantCandidates: "no permission to read the pods",
			wantOwners: "no permission to read the pods"},
		"no pods, and a threshold for what they get": {node: satisfying, wantEnabled: yes, wantMessage: "is unknown: no permission to read the pods",
			wantConfigured: diagnosticsv1alpha1.FeatureYes, wantMemory: "calm", wantSatisfaction: "unknown", wantCandidates: "no permission to read the pods",
			wantOwners: "no permission to read the pods"},
		"no NodeMetric": {node: without(unknown.NodeMetrics), wantEnabled: yes, wantMessage: "is unknown: no permission to read the NodeMetrics",
			wantConfigured: diagnosticsv1alpha1.FeatureYes, wantMemory: "unknown", wantSatisfaction: "unset", wantCandidates: "no permission to read the NodeMetrics"},
		"switched off is known without pods and measurements": {node: off, wantEnabled: no, wantMessage: "resource-threshold-config.enable is not true",
			wantConfigured: diagnosticsv1alpha1.FeatureNo, wantMemory: "off", wantSatisfaction: "off", wantCandidates: "no permission to read the NodeMetrics",
			wantOwners: "no permission to read the pods"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := tc.node.Answer(&diagnosticsv1alpha1.AgentQuestion{}, ByObjects, "koordlet was not asked")
			if diff := cmp.Diff(tc.wantEnabled, got.Suppression.Enabled); diff != "" || !strings.Contains(got.Suppression.Message, tc.wantMessage) || (got.Suppression.Budget != nil) != tc.wantBudget {
				t.Errorf("suppression %+v, want %q", got.Suppression, tc.wantMessage)
			}
			if got.Features[0].Name != "BECPUSuppress" || got.Features[0].Configured != tc.wantConfigured {
				t.Errorf("feature %+v, want %s", got.Features[0], tc.wantConfigured)
			}
			for _, trigger := range got.Evictions.Triggers {
				want := map[string]string{"BEMemoryEvict": tc.wantMemory, "BECPUEvict": tc.wantSatisfaction}[trigger.Feature]
				if want != "" && string(trigger.State) != want {
					t.Errorf("%s is %s (%s), want %s", trigger.Feature, trigger.State, trigger.Reason, want)
				}
				if trigger.CandidatesUnknown != tc.wantCandidates || tc.wantCandidates != "" && len(trigger.Candidates) > 0 {
					t.Errorf("%s: candidates %v, unknown because %q, want %q", trigger.Feature, trigger.Candidates, trigger.CandidatesUnknown, tc.wantCandidates)
				}
			}
			if got.CPUs.OwnersUnknown != tc.wantOwners || len(got.Unknown) != len(tc.node.Unknown) {
				t.Errorf("owners unknown because %q, want %q; inputs %v", got.CPUs.OwnersUnknown, tc.wantOwners, got.Unknown)
			}
			if got.Evictions.EvictedWithinSeconds != 0 {
				t.Errorf("%d evictions within %d s, which only an agent counts", got.Evictions.Evicted, got.Evictions.EvictedWithinSeconds)
			}
		})
	}
	if got, missing := without(unknown.Topologies).CPUs(""); got != nil || !strings.Contains(missing, "no permission to read the NodeResourceTopologies") {
		t.Errorf("CPUs %+v, missing %q", got, missing)
	}
}

func TestConfigured(t *testing.T) {
	enabled := &slov1alpha1.NodeSLOSpec{
		ResourceUsedThresholdWithBE: &slov1alpha1.ResourceThresholdStrategy{Enable: new(true), MemoryEvictThresholdPercent: new(int64(70))},
		ResourceQOSStrategy:         &slov1alpha1.ResourceQOSStrategy{BEClass: &slov1alpha1.ResourceQOS{CPUQOS: &slov1alpha1.CPUQOSCfg{Enable: new(true)}}},
		CPUBurstStrategy:            &slov1alpha1.CPUBurstStrategy{CPUBurstConfig: slov1alpha1.CPUBurstConfig{Policy: slov1alpha1.CPUBurstAuto}},
	}
	tests := map[string]struct {
		nothing, all diagnosticsv1alpha1.FeatureState
	}{
		"BECPUSuppress":   {"No", "Yes"},
		"GroupIdentity":   {"No", "Yes"},
		"CgroupReconcile": {"No", "No"},
		"CPUBurst":        {"No", "Yes"},
		"BEMemoryEvict":   {"No", "Yes"},
		"CPUEvict":        {"No", "No"},
		"CPUSetAllocator": {"Yes", "Yes"},
		"SystemConfig":    {"No", "No"},
		"Unheard":         {"Unknown", "Unknown"},
	}
	for feature, want := range tests {
		t.Run(feature, func(t *testing.T) {
			if got, reason := Configured(feature, nil); got != want.nothing || reason == "" && got != "Unknown" {
				t.Errorf("of nothing: %s, %q", got, reason)
			}
			if got, reason := Configured(feature, enabled); got != want.all || reason == "" && got != "Unknown" {
				t.Errorf("of all: %s, %q", got, reason)
			}
		})
	}
}

// TestConfiguredIsWhatTheDecisionFollows holds the answer to settings that look like enough and are not.
func TestConfiguredIsWhatTheDecisionFollows(t *testing.T) {
	const yes, no = diagnosticsv1alpha1.FeatureYes, diagnosticsv1alpha1.FeatureNo
	threshold := func(change func(*slov1alpha1.ResourceThresholdStrategy)) *slov1alpha1.NodeSLOSpec {
		strategy := &slov1alpha1.ResourceThresholdStrategy{Enable: new(true), MemoryEvictThresholdPercent: new(int64(70))}
		change(strategy)
		return &slov1alpha1.NodeSLOSpec{ResourceUsedThresholdWithBE: strategy}
	}
	classes := func(strategy slov1alpha1.ResourceQOSStrategy) *slov1alpha1.NodeSLOSpec {
		return &slov1alpha1.NodeSLOSpec{ResourceQOSStrategy: &strategy}
	}
	on := &slov1alpha1.ResourceQOS{
		CPUQOS: &slov1alpha1.CPUQOSCfg{Enable: new(true)}, MemoryQOS: &slov1alpha1.MemoryQOSCfg{Enable: new(true)},
		ResctrlQOS: &slov1alpha1.ResctrlQOSCfg{Enable: new(true)}, BlkIOQOS: &slov1alpha1.BlkIOQOSCfg{Enable: new(true)},
		NetworkQOS: &slov1alpha1.NetworkQOSCfg{Enable: new(true)},
	}
	tests := map[string]struct {
		feature    string
		slo        *slov1alpha1.NodeSLOSpec
		want       diagnosticsv1alpha1.FeatureState
		wantReason string
	}{
		"memory eviction of any pod without a priority": {"MemoryEvict", threshold(func(*slov1alpha1.ResourceThresholdStrategy) {}), no,
			"resourceUsedThresholdWithBE.evictEnabledPriorityThreshold is not set"},
		"memory eviction of any pod with a priority": {"MemoryEvict", threshold(func(s *slov1alpha1.ResourceThresholdStrategy) { s.EvictEnabledPriorityThreshold = new(int32(5999)) }), yes,
			"resourceUsedThresholdWithBE.memoryEvictThresholdPercent is 70, evictEnabledPriorityThreshold is 5999"},
		"memory eviction of best effort needs no priority": {"BEMemoryEvict", threshold(func(*slov1alpha1.ResourceThresholdStrategy) {}), yes,
			"resourceUsedThresholdWithBE.memoryEvictThresholdPercent is 70"},
		"a strategy that is off": {"BEMemoryEvict", threshold(func(s *slov1alpha1.ResourceThresholdStrategy) { s.Enable = nil }), no,
			"resourceUsedThresholdWithBE.enable is not true"},
		"satisfaction with one percentage": {"BECPUEvict", threshold(func(s *slov1alpha1.ResourceThresholdStrategy) { s.CPUEvictBESatisfactionLowerPercent = new(int64(30)) }), no,
			"resourceUsedThresholdWithBE.cpuEvictBESatisfactionUpperPercent is not set"},
		"memory of the root": {"CgroupReconcile", classes(slov1alpha1.ResourceQOSStrategy{CgroupRoot: on}), no,
			"resourceQOSStrategy has memoryQOS enabled for none of the classes it applies to"},
		"memory of SYSTEM pods": {"CgroupReconcile", classes(slov1alpha1.ResourceQOSStrategy{SystemClass: on}), yes,
			"resourceQOSStrategy.systemClass.memoryQOS is on"},
		"block devices of the root": {"BlkIOReconcile", classes(slov1alpha1.ResourceQOSStrategy{CgroupRoot: on}), yes,
			"resourceQOSStrategy.cgroupRoot.blkioQOS is on"},
		"caches of SYSTEM pods": {"RdtResctrl", classes(slov1alpha1.ResourceQOSStrategy{SystemClass: on}), no,
			"resourceQOSStrategy has resctrlQOS enabled for none of the classes it applies to"},
		"identities of SYSTEM pods alone": {"GroupIdentity", classes(slov1alpha1.ResourceQOSStrategy{SystemClass: on}), no,
			"resourceQOSStrategy has cpuQOS enabled for none of the classes it applies to"},
		"identities beside core scheduling": {"GroupIdentity", classes(slov1alpha1.ResourceQOSStrategy{
			BEClass: on, Policies: &slov1alpha1.ResourceQOSPolicies{CPUPolicy: new(slov1alpha1.CPUQOSPolicyCoreSched)},
		}), no, "resourceQOSStrategy.policies.cpuPolicy is coreSched"},
		"bandwidth of LSR pods": {"TCNetworkQoS", classes(slov1alpha1.ResourceQOSStrategy{LSRClass: on}), no,
			"resourceQOSStrategy has networkQOS enabled for none of the classes it applies to"},
		"a policy of bursts that there is not": {"CPUBurst", &slov1alpha1.NodeSLOSpec{CPUBurstStrategy: &slov1alpha1.CPUBurstStrategy{
			CPUBurstConfig: slov1alpha1.CPUBurstConfig{Policy: "always"},
		}}, no, "cpuBurstStrategy.policy is always"},
		"a bandwidth is no parameter of the kernel": {"SystemConfig", &slov1alpha1.NodeSLOSpec{SystemStrategy: &slov1alpha1.SystemStrategy{
			TotalNetworkBandwidth: new(resource.MustParse("10Gi")),
		}}, no, "systemStrategy sets no parameter of the kernel"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got, reason := Configured(tc.feature, tc.slo); got != tc.want || reason != tc.wantReason {
				t.Errorf("%s is configured %s: %q, want %s: %q", tc.feature, got, reason, tc.want, tc.wantReason)
			}
		})
	}
}
