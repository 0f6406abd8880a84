package printer

import (
	"fmt"
	"io"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// agentViews are what is printed of node agents.
func agentViews() map[string]view {
	return map[string]view{
		"agent-features":    agentView(func(a *diagnosticsv1alpha1.AgentExplanation) { a.Features = agentFeaturesFixture() }, false),
		"agent-suppression": agentView(func(a *diagnosticsv1alpha1.AgentExplanation) { a.Suppression = suppressionFixture() }, false),
		"agent-cpus":        agentView(func(a *diagnosticsv1alpha1.AgentExplanation) { a.CPUs = cpusFixture() }, false),
		"agent-cpus-256":    agentView(func(a *diagnosticsv1alpha1.AgentExplanation) { a.CPUs = manyCPUsFixture() }, false),
		"agent-pods":        agentView(func(a *diagnosticsv1alpha1.AgentExplanation) { a.Pods = podSettingsFixture() }, false),
		"agent-containers":  agentView(func(a *diagnosticsv1alpha1.AgentExplanation) { a.Agents = containerAgentsFixture() }, false),
		"pods-containers": func(w io.Writer, o Options) error {
			list := podsFixture()
			list.Agents = containerAgentsFixture()
			return PodOverviews(w, list, o)
		},
		"agent-evictions":      agentView(func(a *diagnosticsv1alpha1.AgentExplanation) { a.Evictions = evictionsFixture() }, false),
		"agent-evictions-wide": agentView(func(a *diagnosticsv1alpha1.AgentExplanation) { a.Evictions = evictionsFixture() }, true),
		"agent-absent":         func(w io.Writer, o Options) error { return AgentExplanation(w, absentAgentFixture(), o) },
		"forecasts":            func(w io.Writer, o Options) error { return Forecasts(w, forecastsFixture(), o) },
		"audit":                func(w io.Writer, o Options) error { return Audit(w, auditFixture(), o) },
	}
}

func agentView(fill func(*diagnosticsv1alpha1.AgentExplanation), wide bool) view {
	return func(w io.Writer, o Options) error {
		o.Wide = o.Wide || wide
		e := agentFixture()
		fill(e.Status.Agent)
		return AgentExplanation(w, e, o)
	}
}

func agentFixture() *diagnosticsv1alpha1.NodeExplanation {
	return &diagnosticsv1alpha1.NodeExplanation{
		Spec: diagnosticsv1alpha1.NodeExplanationSpec{NodeName: "worker-1"},
		Status: diagnosticsv1alpha1.NodeExplanationStatus{
			Agent:  &diagnosticsv1alpha1.AgentExplanation{Component: "koordlet", Cgroups: "v2, systemd", ObservedAt: before(time.Second)},
			Origin: diagnosticsv1alpha1.Origin{Component: "koord-manager", Leader: true, EvaluatedAt: *before(0), DurationMicroseconds: 8200},
		},
	}
}

func absentAgentFixture() *diagnosticsv1alpha1.NodeExplanation {
	e := agentFixture()
	e.Status.Agent = &diagnosticsv1alpha1.AgentExplanation{Component: "koord-manager", ObservedAt: before(42 * time.Second), Features: []diagnosticsv1alpha1.AgentFeature{
		{Name: "BECPUSuppress", Configured: "Yes", Supported: "Unknown", Active: "Unknown", Effective: "Unknown", Reason: "resourceUsedThresholdWithBE.enable is true"},
	}}
	e.Status.Findings = []diagnosticsv1alpha1.Finding{{
		Code: "KOORD0009", Severity: diagnosticsv1alpha1.SeverityWarning, Message: "the node's koordlet did not respond, so the answer is from API objects only: dial tcp 10.0.0.7:9316: connect: connection refused",
		Hint: "kubectl -n koordinator-system get pods -o wide --field-selector spec.nodeName=worker-1", Object: &diagnosticsv1alpha1.SourceRef{Kind: "Node", Name: "worker-1"},
	}}
	return e
}

func agentFeaturesFixture() []diagnosticsv1alpha1.AgentFeature {
	return []diagnosticsv1alpha1.AgentFeature{
		{Name: "BECPUSuppress", Rank: 1, Gate: true, Configured: "Yes", Supported: "Yes", Active: "Yes", Effective: "Yes", Wanted: 12, InForce: 12, Reason: "resourceUsedThresholdWithBE.enable is true"},
		{Name: "CPUSetAllocator", Rank: 2, Gate: true, Configured: "Yes", Supported: "Yes", Active: "Yes", Effective: "Partly", Wanted: 9, InForce: 7, Outranked: 2, Reason: "follows the annotations and resources of pods"},
		{Name: "GroupIdentity", Rank: 3, Gate: true, Configured: "Yes", Supported: "No", Active: "Yes", Effective: "No", Wanted: 3, Reason: "resourceQOSStrategy.beClass.cpuQOS is on",
			LastError: "GroupIdentity: set cpu.bvt_warp_ns of kubepods/besteffort: no such file or directory", LastErrorAt: before(3 * time.Minute)},
		{Name: "CgroupReconcile", Rank: 5, Configured: "No", Supported: "Yes", Active: "No", Effective: "No", Reason: "its feature gate is off"},
		{Name: "MemoryEvict", Gate: true, Configured: "Yes", Supported: "Yes", Active: "Yes", Effective: "No", Reason: "61% of the memory is used; pods are evicted from 70%"},
		{Name: "RdtResctrl", Gate: true, Configured: "Yes", Supported: "Yes", Active: "Yes", Effective: "Partly", Reason: "resourceQOSStrategy.beClass.resctrlQOS is on",
			State: "2 groups, of which it set 1: BE L3:0=3;1=3", Problems: []string{"the processor divides no memory bandwidth"}},
	}
}

func suppressionFixture() *diagnosticsv1alpha1.SuppressionExplanation {
	term := func(name string, operator diagnosticsv1alpha1.Operator, value int64, unit diagnosticsv1alpha1.Unit, note string) diagnosticsv1alpha1.Term {
		return diagnosticsv1alpha1.Term{Name: name, Operator: operator, Value: value, Unit: unit, Note: note}
	}
	return &diagnosticsv1alpha1.SuppressionExplanation{
		Enabled: new(true), Policy: "cpuset", Message: "best-effort pods may use 6.4 cores and use 9.1: suppressed", BestEffortUsed: new(int64(9100)),
		Budget: &diagnosticsv1alpha1.Waterfall{Resource: "best-effort-cpu", Unit: diagnosticsv1alpha1.MilliCPU, Policy: "cpuset", Result: 6400, Terms: []diagnosticsv1alpha1.Term{
			term("capacity", diagnosticsv1alpha1.Start, 32000, diagnosticsv1alpha1.MilliCPU, ""),
			term("threshold", diagnosticsv1alpha1.Times, 65, diagnosticsv1alpha1.Percent, "of the capacity may be used by all together"),
			term("podsUsed", diagnosticsv1alpha1.Minus, 13400, diagnosticsv1alpha1.MilliCPU, "used by pods above best effort"),
			term("systemUsed", diagnosticsv1alpha1.Minus, 1000, diagnosticsv1alpha1.MilliCPU, "the node uses 23.5 cores, pods and host applications 22.5 of them"),
			term("floor", diagnosticsv1alpha1.Max, 0, diagnosticsv1alpha1.MilliCPU, "at least 0% of the capacity"),
			term("budget", diagnosticsv1alpha1.Result, 6400, diagnosticsv1alpha1.MilliCPU, ""),
		}},
		CPUs: "2-5,18-20", CPUNote: "7 CPUs, limited by the budget; the budget asks for 7", EffectiveCPUs: "2-8,18-20",
		QuotaMicroseconds: new(int64(-1)), QuotaNote: "there is no quota", EffectiveQuotaMicroseconds: new(int64(-1)),
	}
}

func cpusFixture() *diagnosticsv1alpha1.CPUExplanation {
	zones := []diagnosticsv1alpha1.CPUZone{{Socket: 0, NUMANode: 0}, {Socket: 1, NUMANode: 1}}
	for core := range 16 {
		zone := &zones[core/8]
		zone.Cores = append(zone.Cores, fmt.Sprintf("%d,%d", core, core+16))
	}
	return &diagnosticsv1alpha1.CPUExplanation{
		All: "0-31", Zones: zones,
		Pools: []diagnosticsv1alpha1.CPUPool{
			{Name: "shared", NUMANode: new(int32(0)), CPUs: "4-7,20-23", Count: 8}, {Name: "shared", NUMANode: new(int32(1)), CPUs: "8-15,24-31", Count: 16},
			{Name: "bestEffort", NUMANode: new(int32(0)), CPUs: "0-7,16-23", Count: 16}, {Name: "suppressed", CPUs: "2-5,18-20", Count: 7},
		},
		Owners: []diagnosticsv1alpha1.CPUOwner{
			{Namespace: "shop", Name: "search-0", QoSClass: "LSR", CPUs: "0-1,16-17", Count: 4, Lent: true},
			{Namespace: "trade", Name: "matching-engine-with-a-long-name-5d8f7c6b9-x2x4z", QoSClass: "LSE", CPUs: "2-3,18-19", Count: 4}, {Name: "node reservation", CPUs: "31", Count: 1},
		},
	}
}

// manyCPUsFixture is a machine of 256 CPUs on 2 sockets with 2 NUMA nodes each, whose pods cannot be seen but for those of the kubelet.
func manyCPUsFixture() *diagnosticsv1alpha1.CPUExplanation {
	out := &diagnosticsv1alpha1.CPUExplanation{
		All: "0-255", OwnersUnknown: "list pods: not permitted",
		Pools: []diagnosticsv1alpha1.CPUPool{
			{Name: "shared", NUMANode: new(int32(0)), CPUs: "8-31,136-159", Count: 48}, {Name: "shared", NUMANode: new(int32(1)), CPUs: "32-63,160-191", Count: 64},
			{Name: "shared", NUMANode: new(int32(2)), CPUs: "64-95,192-223", Count: 64}, {Name: "bestEffort", NUMANode: new(int32(0)), CPUs: "4-15,132-143", Count: 24},
		},
		Owners: []diagnosticsv1alpha1.CPUOwner{
			{Namespace: "trade", Name: "engine (bound by kubelet)", CPUs: "96-103,224-231", Count: 16}, {Name: "SYSTEM pods", QoSClass: "SYSTEM", CPUs: "127,255", Count: 2},
			{Name: "node reservation", CPUs: "0,128", Count: 2},
		},
	}
	for zone := range 4 {
		z := diagnosticsv1alpha1.CPUZone{Socket: int32(zone / 2), NUMANode: int32(zone)}
		for core := zone * 32; core < zone*32+32; core++ {
			z.Cores = append(z.Cores, fmt.Sprintf("%d,%d", core, core+128))
		}
		out.Zones = append(out.Zones, z)
	}
	return out
}

func podSettingsFixture() []diagnosticsv1alpha1.PodSettings {
	const at = "kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod1.slice"
	return []diagnosticsv1alpha1.PodSettings{
		{Namespace: "spark", Name: "executor-1", QoSClass: "BE", KubernetesQoSClass: "BestEffort", Settings: []diagnosticsv1alpha1.CgroupSetting{
			{Cgroup: "kubepods.slice/kubepods-besteffort.slice", Setting: "cpuset.cpus", Desired: "2-5,18-20", Effective: "2-5,18-20", Matches: true, Owner: "BECPUSuppress", Why: "best-effort pods may use 6400 milli-cores"},
			{Cgroup: at, Setting: "cpu.shares", Desired: "2048", Effective: "1024", Owner: "BatchResource", Why: "2000 milli-cores of batch-cpu requested", Outranked: []string{"CgroupReconcile"}},
			{Container: "main", Cgroup: at + "/c", Setting: "memory.limit_in_bytes", Desired: "4294967296", Owner: "BatchResource", Error: "no such file or directory"},
		}},
		{Namespace: "shop", Name: "web-0"},
	}
}

func containerAgentsFixture() []diagnosticsv1alpha1.ContainerAgent {
	return []diagnosticsv1alpha1.ContainerAgent{
		{Name: "yarn", Socket: "/var/run/yarn-copilot/yarn-copilot.sock", ListedAt: before(time.Second), Omitted: 12, Containers: []diagnosticsv1alpha1.AgentContainer{
			{Namespace: "yarn", Name: "container_e17_1764272000000_0042_01_000007", Priority: 5500, StartedAt: before(40 * time.Second), CPURequest: 1000, MemoryRequest: 2 * gi, WorkSeconds: 31, CPUUsed: new(int64(800)), MemoryUsed: new(gi), Victim: true},
			{Namespace: "yarn", Name: "container_e17_1764272000000_0042_01_000002", Priority: 5500, StartedAt: before(3 * time.Hour), CPURequest: 2000, MemoryRequest: 4 * gi, WorkSeconds: 9000},
			{Namespace: "yarn", Name: "container_e17_1764272000000_0042_01_000001", Priority: 5501, CPURequest: 1000, MemoryRequest: gi, WorkSeconds: 4},
		}, Problems: []string{"no host application of class BE has cgroup kubepods/besteffort/hadoop-yarn: usage of its containers counts as usage of the system, for which best-effort pods get less CPU"}},
		{Socket: "/var/run/other/agent.sock", Problems: []string{"its containers are unknown, and none is evicted: dial unix /var/run/other/agent.sock: connect: no such file or directory"}},
	}
}

func evictionsFixture() *diagnosticsv1alpha1.EvictionForecast {
	return &diagnosticsv1alpha1.EvictionForecast{
		Trend: &diagnosticsv1alpha1.UsageTrend{OverSeconds: 300, Samples: 300, CPUPerHour: -1200, MemoryPerHour: 6 * gi}, Evicted: 1, EvictedWithinSeconds: 300,
		Triggers: []diagnosticsv1alpha1.EvictionTrigger{
			{Feature: "BECPUEvict", State: "off", Reason: "the feature is off", Unit: diagnosticsv1alpha1.MilliCPU},
			{Feature: "CPUAllocatableEvict", Tier: "batch", State: "calm", Reason: "batch-cpu requested is 80% of what the node offers; pods are evicted above 100%", Unit: diagnosticsv1alpha1.MilliCPU,
				ObservedPercent: new(int64(80)), ThresholdPercent: new(int64(100)), Margin: new(int64(1900))},
			{Feature: "CPUEvict", State: "calm", Reason: "62% of the CPU is used; pods are evicted from 80%", Unit: diagnosticsv1alpha1.MilliCPU, ObservedPercent: new(int64(62)), ThresholdPercent: new(int64(80)), Margin: new(int64(5760))},
			{Feature: "BEMemoryEvict", State: "calm", Reason: "66% of the memory is used; pods are evicted from 70%", Unit: diagnosticsv1alpha1.Bytes, ObservedPercent: new(int64(66)), ThresholdPercent: new(int64(70)),
				Margin: new(5 * gi), Seconds: new(int64(3000)), CandidatesOmitted: 4, Protected: 11, Candidates: []diagnosticsv1alpha1.EvictionCandidate{
					{Namespace: "spark", Name: "executor-3", Frees: 3 * gi, Keys: []diagnosticsv1alpha1.SortKey{{Name: "priority", Value: 5000, Unit: diagnosticsv1alpha1.Count}, {Name: "used", Value: 3 * gi, Unit: diagnosticsv1alpha1.Bytes, Descending: true}}},
					{Namespace: "spark", Name: "executor-1", Frees: gi, Keys: []diagnosticsv1alpha1.SortKey{{Name: "priority", Value: 5500, Unit: diagnosticsv1alpha1.Count}, {Name: "used", Value: gi, Unit: diagnosticsv1alpha1.Bytes, Descending: true}}},
				}},
			{Feature: "MemoryAllocatableEvict", Tier: "mid", State: "triggered", Reason: "mid-memory requested is more than 100% of what the node offers", Held: "at most 10 pods are evicted at once", Unit: diagnosticsv1alpha1.Bytes,
				ObservedPercent: new(int64(1) << 62), ThresholdPercent: new(int64(100)), Margin: new(int64(0)), Release: gi, Seconds: new(int64(0)),
				Candidates: []diagnosticsv1alpha1.EvictionCandidate{{Namespace: "shop", Name: "report-2", Frees: gi, Victim: true}}},
			{Feature: "MemoryEvict", State: "unknown", Reason: "the measurement is 4s old, more than two intervals of 1s", Unit: diagnosticsv1alpha1.Bytes},
		},
	}
}

func forecastsFixture() *diagnosticsv1alpha1.NodeExplanationList {
	first, second, third := agentFixture(), agentFixture(), agentFixture()
	first.Status.Agent.Evictions = evictionsFixture()
	second.Spec.NodeName, second.Status.Agent.Evictions = "worker-2", &diagnosticsv1alpha1.EvictionForecast{Triggers: []diagnosticsv1alpha1.EvictionTrigger{
		{Feature: "MemoryEvict", State: "calm", Reason: "30% of the memory is used; pods are evicted from 70%", Unit: diagnosticsv1alpha1.Bytes, ObservedPercent: new(int64(30)), ThresholdPercent: new(int64(70)), Margin: new(50 * gi)},
	}}
	third.Spec.NodeName, third.Status.Agent = "worker-3", nil
	return &diagnosticsv1alpha1.NodeExplanationList{Items: []diagnosticsv1alpha1.NodeExplanation{*first, *second, *third}}
}

func auditFixture() *diagnosticsv1alpha1.AuditPage {
	at := metav1.NewMicroTime(fixtureNow.Add(-2 * time.Second))
	return &diagnosticsv1alpha1.AuditPage{Missed: 3, Last: 12, Entries: []diagnosticsv1alpha1.AuditEntry{
		{Number: 10, Time: at, Owner: "BECPUSuppress", Object: "cpuset/kubepods/besteffort/cpuset.cpus", Old: "0-31", New: "2-5,18-20", Why: "best-effort pods may use 6400 milli-cores"},
		{Number: 11, Time: at, Owner: "GroupIdentity", Object: "cpu/kubepods/besteffort/cpu.bvt_warp_ns", Old: "0", New: "0", Error: "write cpu.bvt_warp_ns: invalid argument"},
		{Number: 12, Time: at, Owner: "MemoryEvict", Object: "pod shop/report-2", Old: "running", New: "evicted", Why: "71% of the memory is used; pods are evicted from 70%"},
	}}
}
