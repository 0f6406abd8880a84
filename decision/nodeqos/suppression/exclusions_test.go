package suppression

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/cpuset"
)

func TestExclusions(t *testing.T) {
	node := func(key, value string) map[string]string { return map[string]string{key: value} }
	tests := map[string]struct {
		node, topology map[string]string
		lse            cpuset.CPUSet
		want           map[string]string
	}{
		"nobody keeps any":               {},
		"LSE pods":                       {lse: cpuset.Of(2, 3), want: map[string]string{"LSE pods": "2-3"}},
		"a reservation":                  {node: node(extension.AnnotationNodeReservation, `{"reservedCPUs":"0-1"}`), want: map[string]string{"node reservation": "0-1"}},
		"a reservation of no CPUs":       {node: node(extension.AnnotationNodeReservation, `{"resources":{"cpu":"2"}}`)},
		"one that cannot be read":        {node: node(extension.AnnotationNodeReservation, `{"reservedCPUs":"1-0"}`)},
		"SYSTEM pods, exclusively":       {node: node(extension.AnnotationSystemQOSResource, `{"cpuset":"6"}`), want: map[string]string{"SYSTEM pods": "6"}},
		"SYSTEM pods among others":       {node: node(extension.AnnotationSystemQOSResource, `{"cpuset":"6","cpusetExclusive":false}`)},
		"what the kubelet bound":         {topology: node(extension.AnnotationNodePodCPUAllocs, `[{"cpuset":"4","managedByKubelet":true},{"cpuset":"5-6","managedByKubelet":true},{"cpuset":"7"}]`), want: map[string]string{"pods of the kubelet": "4-6"}},
		"a list of them that is damaged": {topology: node(extension.AnnotationNodePodCPUAllocs, `[{"cpuset":"4-","managedByKubelet":true},{"cpuset":"5","managedByKubelet":true}]`), want: map[string]string{"pods of the kubelet": "5"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got map[string]string
			for _, exclusion := range Exclusions(tc.node, tc.topology, tc.lse) {
				if got == nil {
					got = map[string]string{}
				}
				got[exclusion.Owner] = exclusion.CPUs.String()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("CPUs that are kept (-want +got):\n%s", diff)
			}
		})
	}
}
