package suppression

import (
	"testing"
	"time"

	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/cpuset"
	"koordinator.sh/koord/decision/core/freshness"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// reporter is a test or a property that can fail.
type reporter interface {
	Helper()
	Fatal(args ...any)
}

// machine has sockets with one NUMA node each and two threads per core; siblings are adjacent: CPUs 0 and 1 are a core.
func machine(t reporter, sockets, coresPerSocket int) *cpuset.Topology {
	t.Helper()
	var reported extension.CPUTopology
	for cpu := range sockets * coresPerSocket * 2 {
		core := cpu / 2
		socket := int32(core / coresPerSocket)
		reported.Detail = append(reported.Detail, extension.CPUInfo{ID: int32(cpu), Core: int32(core), Socket: socket, Node: socket})
	}
	topology, err := cpuset.NewTopology(&reported)
	if err != nil {
		t.Fatal(err)
	}
	return topology
}

func parse(t reporter, list string) cpuset.CPUSet {
	t.Helper()
	cpus, err := cpuset.Parse(list)
	if err != nil {
		t.Fatal(err)
	}
	return cpus
}

func enabled(policy slov1alpha1.CPUSuppressPolicy) *slov1alpha1.ResourceThresholdStrategy {
	return &slov1alpha1.ResourceThresholdStrategy{Enable: new(true), CPUSuppressPolicy: policy}
}

func fresh() freshness.Observation { return freshness.Observation{At: noon, Period: time.Second} }

// busy is a node of 32 CPUs: services use 10, an application outside 2, batch 8, and the system 3.
func busy() Measurement {
	return Measurement{
		Observation: fresh(), Capacity: 32_000, Reserved: 1_000, NodeUsed: 23_500,
		Pods: []Load{
			{Namespace: "shop", Name: "web", QoS: extension.QoSLS, Used: 6_000},
			{Namespace: "shop", Name: "db", QoS: extension.QoSLSR, Used: 4_000},
			{Namespace: "spark", Name: "exec-1", QoS: extension.QoSBE, Used: 5_000},
			{Namespace: "spark", Name: "exec-2", QoS: extension.QoSBE, Used: 3_000},
		},
		HostApplications: []Load{
			{Name: "registry", QoS: extension.QoSLS, Used: 2_000},
			{Name: "scrubber", QoS: extension.QoSBE, Used: 500},
		},
	}
}

var _ reporter = (*testing.T)(nil)
