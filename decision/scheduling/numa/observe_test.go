package numa

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"koordinator.sh/koord/api/extension"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
)

func TestObserve(t *testing.T) {
	tests := []struct {
		name          string
		labels        []string
		reported      func(*topologyv1alpha1.NodeResourceTopology)
		wantUsable    string
		wantTotal     int64 // cpu of zone 0
		wantPolicy    extension.NUMATopologyPolicy
		wantBind      extension.NodeCPUBindPolicy
		wantProblem   string
		wantDemanding bool
	}{
		{name: "everything can be used", wantUsable: "0-15", wantTotal: 8000, wantBind: "None"},
		{
			name: "pods of the kubelet keep their CPUs, those of the scheduler are in the ledger", wantUsable: "2-15", wantTotal: 6000, wantBind: "None",
			reported: annotate(extension.AnnotationNodePodCPUAllocs, `[{"cpuset":"0-1","managedByKubelet":true},{"cpuset":"4-5"}]`),
		},
		{
			name: "a static kubelet demands whole cores and keeps its reserved CPUs", wantUsable: "1-15", wantTotal: 7000, wantBind: "FullPCPUsOnly", wantDemanding: true,
			reported: annotate(extension.AnnotationKubeletCPUManagerPolicy, `{"policy":"static","options":{"full-pcpus-only":"true"},"reservedCPUs":"0"}`),
		},
		{name: "reserved on the node", labels: []string{extension.AnnotationNodeReservation, `{"reservedCPUs":"0-3"}`}, wantUsable: "4-15", wantTotal: 4000, wantBind: "None"},
		{name: "reserved in the copy of the topology", reported: annotate(extension.AnnotationNodeReservation, `{"reservedCPUs":"0-3"}`), wantUsable: "4-15", wantTotal: 4000, wantBind: "None"},
		{name: "system pods have CPUs of their own", labels: []string{extension.AnnotationSystemQOSResource, `{"cpuset":"7"}`}, wantUsable: "0-6,8-15", wantTotal: 7000, wantBind: "None"},
		{name: "or share them", labels: []string{extension.AnnotationSystemQOSResource, `{"cpuset":"7","cpusetExclusive":false}`}, wantUsable: "0-15", wantTotal: 8000, wantBind: "None"},
		{
			name: "what a zone can give is allocatable", wantUsable: "0-15", wantTotal: 7500, wantBind: "None",
			reported: func(r *topologyv1alpha1.NodeResourceTopology) {
				r.Zones[0].Resources[0].Allocatable = resource.MustParse("7500m")
			},
		},
		{name: "zones are amplified", labels: []string{ratioKey, `{"cpu":1.5}`}, wantUsable: "0-15", wantTotal: 12000, wantBind: "None", wantDemanding: true},
		{
			name: "the policy of the kubelet", wantUsable: "0-15", wantTotal: 8000, wantBind: "None", wantPolicy: single, wantDemanding: true,
			reported: func(r *topologyv1alpha1.NodeResourceTopology) {
				r.TopologyPolicies = []string{"SingleNUMANodeContainerLevel"}
			},
		},
		{
			name: "the label wins over it", labels: []string{labelNUMA, "Restricted"}, wantUsable: "0-15", wantTotal: 8000, wantBind: "None", wantPolicy: restricted, wantDemanding: true,
			reported: func(r *topologyv1alpha1.NodeResourceTopology) { r.TopologyPolicies = []string{"BestEffortPodLevel"} },
		},
		{name: "an unknown policy aligns nothing", labels: []string{labelNUMA, "best-effort"}, wantUsable: "0-15", wantTotal: 8000, wantBind: "None", wantProblem: `unknown NUMA topology policy "best-effort"`},
		{name: "an unknown strategy is left out", labels: []string{extension.LabelNodeNUMAAllocateStrategy, "first"}, wantUsable: "0-15", wantTotal: 8000, wantBind: "None", wantProblem: `unknown strategy "first"`},
		{
			name: "no CPU is safe when owners cannot be read", reported: annotate(extension.AnnotationNodePodCPUAllocs, `[{"cpuset":"1-","managedByKubelet":true}]`),
			wantTotal: 8000, wantBind: "None", wantProblem: extension.AnnotationNodePodCPUAllocs,
		},
		{name: "a topology that cannot be", reported: annotate(extension.AnnotationNodeCPUTopology, `{"detail":[{"id":1},{"id":1}]}`), wantTotal: 8000, wantBind: "None", wantProblem: "lists a CPU twice"},
		{
			name: "a zone that cannot be", wantUsable: "0-15", wantBind: "None", wantProblem: `zone "node-64"`,
			reported: func(r *topologyv1alpha1.NodeResourceTopology) { r.Zones[0].Name = "node-64" },
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			reported := newTopology(2, 4)
			if test.reported != nil {
				test.reported(reported)
			}
			node := Observe(newNode(test.labels...), reported)
			var total int64
			if i := node.zone(0); i >= 0 {
				total = node.Zones[i].Total["cpu"]
			}
			if node.Usable.String() != test.wantUsable || total != test.wantTotal || node.Policy != test.wantPolicy || node.BindPolicy != test.wantBind || node.Demanding() != test.wantDemanding {
				t.Errorf("usable %s, cpu of zone 0 %d, policy %q, bind %q, demanding %v", node.Usable, total, node.Policy, node.BindPolicy, node.Demanding())
			}
			if problems := strings.Join(node.Problems, ", "); !strings.Contains(problems, test.wantProblem) || (test.wantProblem == "") != (problems == "") {
				t.Errorf("problems %q, want %q", problems, test.wantProblem)
			}
		})
	}
}

func annotate(key, value string) func(*topologyv1alpha1.NodeResourceTopology) {
	return func(reported *topologyv1alpha1.NodeResourceTopology) { reported.Annotations[key] = value }
}

func TestSetsOfZones(t *testing.T) {
	if diff := cmp.Diff([]Mask{1, 2, 3, 8, 9, 10, 11}, masksOf(11)); diff != "" {
		t.Error(diff)
	}
	many := masksOf(1<<12 - 1)
	if len(many) != 12+66+1 || many[len(many)-1] != 1<<12-1 {
		t.Errorf("%d sets of 12 zones", len(many))
	}
	if got := masksOf(0); len(got) != 0 {
		t.Errorf("sets of no zones: %v", got)
	}
}

func TestZonesAreScoredByTheirOwnStrategy(t *testing.T) {
	args := DefaultArgs()
	args.NUMAScoringStrategy = &ScoringStrategy{Type: "MostAllocated", Resources: []ResourceWeight{{"memory", 1}}}
	ledger := ledgerOf(t, Observe(newNode(labelNUMA, "SingleNUMANode"), newTopology(2, 4)), status(`{"numaNodeResources":[{"node":1,"resources":{"memory":"5Gi"}}]}`))
	request, _ := RequestOf(newPod(ls, nil, "cpu", "1", "memory", "5Gi"), args)
	in := Input{Args: args, Ledger: ledger, Request: request}
	hint, verdict := Filter(in, nil)
	if !verdict.Passed() || hint.Mask != 2 {
		t.Errorf("zones %s, want the one with the most memory taken", hint.Mask)
	}
	if got := Score(in, hint, nil); got != 100 {
		t.Errorf("score %d, want 100: memory of the zone is all taken, and cpu does not count", got)
	}
}

func TestNodesAreScoredWithBoundCPUsAmplified(t *testing.T) {
	args := DefaultArgs()
	args.ScoringStrategy.Resources = []ResourceWeight{{"cpu", 1}}
	usage := func() Usage { return Usage{Allocatable: 24000, Requested: 4000} }
	request, _ := RequestOf(newPod(lsr, nil, "cpu", "4"), args)
	in := Input{Args: args, Ledger: ledgerOf(t, Observe(newNode(ratioKey, `{"cpu":1.5}`), newTopology(2, 4)), status(`{"cpuset":"0-3"}`)), Request: request}
	if got := Score(in, Hint{}, func(corev1.ResourceName) Usage { return usage() }); got != 50 {
		t.Errorf("score %d, want 50: 6000m are taken and 6000m more of 24000m would be", got)
	}
}

func TestValidate(t *testing.T) {
	args := &Args{DefaultCPUBindPolicy: "ConstrainedBurst", ScoringStrategy: &ScoringStrategy{Type: "Balanced", Resources: []ResourceWeight{{"cpu", 101}, {"cpu", 1}, {"", 1}}}}
	SetDefaults(args)
	var fields []string
	for _, problem := range Validate(args) {
		fields = append(fields, problem.Field)
	}
	want := []string{"defaultCPUBindPolicy", "scoringStrategy.type", "scoringStrategy.resources[0].weight", "scoringStrategy.resources[1].name", "scoringStrategy.resources[2].name"}
	if diff := cmp.Diff(want, fields); diff != "" {
		t.Error(diff)
	}
	if problems := Validate(DefaultArgs()); len(problems) > 0 {
		t.Error(problems)
	}
}
