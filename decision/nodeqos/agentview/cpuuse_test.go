package agentview

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/cpuset"
)

func pool(name, cpus string) diagnosticsv1alpha1.CPUPool {
	return diagnosticsv1alpha1.CPUPool{Name: name, CPUs: cpus}
}

func TestWhatEachCPUIsFor(t *testing.T) {
	owner := func(namespace, class, cpus string, lent bool) diagnosticsv1alpha1.CPUOwner {
		return diagnosticsv1alpha1.CPUOwner{Namespace: namespace, Name: "x", QoSClass: class, CPUs: cpus, Lent: lent}
	}
	both := []diagnosticsv1alpha1.CPUPool{pool(PoolShared, "2-3"), pool(PoolBestEffort, "0-3")}
	tests := map[string]struct {
		in   diagnosticsv1alpha1.CPUExplanation
		want []CPUUse
	}{
		"nothing is known but the CPUs": {want: []CPUUse{CPUFree, CPUFree, CPUFree, CPUFree}},
		"and pods cannot be seen": {
			in: diagnosticsv1alpha1.CPUExplanation{OwnersUnknown: "forbidden", Pools: []diagnosticsv1alpha1.CPUPool{pool(PoolShared, "0")}}, want: []CPUUse{CPUServices, CPUUnknown, CPUUnknown, CPUUnknown},
		},
		"pools overlap": {in: diagnosticsv1alpha1.CPUExplanation{Pools: both}, want: []CPUUse{CPUBestEffort, CPUBestEffort, CPUShared, CPUShared}},
		"best-effort pods are suppressed": {
			in:   diagnosticsv1alpha1.CPUExplanation{Pools: append([]diagnosticsv1alpha1.CPUPool{pool(PoolSuppressed, "0,2")}, both...)},
			want: []CPUUse{CPUBestEffort, CPUFree, CPUShared, CPUServices},
		},
		"pods of each class own a CPU": {
			in: diagnosticsv1alpha1.CPUExplanation{Pools: both, Owners: []diagnosticsv1alpha1.CPUOwner{
				owner("shop", "LSE", "0", false), owner("shop", "LSR", "1", true), owner("shop", "", "2", false), owner("", "SYSTEM", "3", false),
			}},
			want: []CPUUse{CPUExclusive, CPULent, CPUBound, CPUSystem},
		},
		"the node reserves CPUs": {in: diagnosticsv1alpha1.CPUExplanation{Owners: []diagnosticsv1alpha1.CPUOwner{owner("", "", "0-1", false)}}, want: []CPUUse{CPUReserved, CPUReserved, CPUFree, CPUFree}},
		"two pods own a CPU": {
			in:   diagnosticsv1alpha1.CPUExplanation{Owners: []diagnosticsv1alpha1.CPUOwner{owner("shop", "LSE", "0-1", false), owner("shop", "LSR", "1-2", true)}},
			want: []CPUUse{CPUExclusive, CPUConflict, CPULent, CPUFree},
		},
		"best-effort pods are held to CPUs of an LSE and of an LSR pod": {
			in: diagnosticsv1alpha1.CPUExplanation{
				Pools:  []diagnosticsv1alpha1.CPUPool{pool(PoolSuppressed, "0-1")},
				Owners: []diagnosticsv1alpha1.CPUOwner{owner("shop", "LSE", "0", false), owner("shop", "LSR", "1", true)},
			},
			want: []CPUUse{CPUConflict, CPULent, CPUFree, CPUFree},
		},
		"lists that cannot be read": {
			in:   diagnosticsv1alpha1.CPUExplanation{Pools: []diagnosticsv1alpha1.CPUPool{pool(PoolShared, "x")}, Owners: []diagnosticsv1alpha1.CPUOwner{owner("shop", "LSE", "-", false)}},
			want: []CPUUse{CPUFree, CPUFree, CPUFree, CPUFree},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tc.in.All = "0-3"
			uses := CPUUses(&tc.in)
			got := []CPUUse{uses[0], uses[1], uses[2], uses[3]}
			if diff := cmp.Diff(tc.want, got); diff != "" || len(uses) != 4 {
				t.Errorf("%d CPUs, unexpected uses (-want +got):\n%s", len(uses), diff)
			}
		})
	}
}

// TestZonesPlaceEveryCPUOnce: hyperthreads are in one core, and a NUMA node that spans sockets is listed for each.
func TestZonesPlaceEveryCPUOnce(t *testing.T) {
	cpus := func(places ...[3]int32) *cpuset.Topology {
		reported := &extension.CPUTopology{}
		for id, place := range places {
			reported.Detail = append(reported.Detail, extension.CPUInfo{ID: int32(id), Socket: place[0], Node: place[1], Core: place[2]})
		}
		topology, err := cpuset.NewTopology(reported)
		if err != nil {
			t.Fatal(err)
		}
		return topology
	}
	tests := map[string]struct {
		topology *cpuset.Topology
		want     []diagnosticsv1alpha1.CPUZone
	}{
		"hyperthreads on two sockets": {
			topology: cpus([3]int32{0, 0, 0}, [3]int32{1, 1, 1}, [3]int32{0, 0, 0}, [3]int32{1, 1, 1}),
			want:     []diagnosticsv1alpha1.CPUZone{{Socket: 0, NUMANode: 0, Cores: []string{"0,2"}}, {Socket: 1, NUMANode: 1, Cores: []string{"1,3"}}},
		},
		"a NUMA node on two sockets": {
			topology: cpus([3]int32{0, 0, 0}, [3]int32{1, 0, 0}),
			want:     []diagnosticsv1alpha1.CPUZone{{Socket: 0, NUMANode: 0, Cores: []string{"0"}}, {Socket: 1, NUMANode: 0, Cores: []string{"1"}}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, zones(tc.topology)); diff != "" {
				t.Errorf("unexpected zones (-want +got):\n%s", diff)
			}
		})
	}
	unread := Cores(&diagnosticsv1alpha1.CPUZone{Cores: []string{"0,2", "x", "1"}})
	if diff := cmp.Diff([][]int{{0, 2}, {1}}, unread); diff != "" {
		t.Errorf("unexpected cores (-want +got):\n%s", diff)
	}
}
