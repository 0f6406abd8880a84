package objects

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

func TestTheLimitsOfARoundHoldForAllPlugins(t *testing.T) {
	on := func(namespace, node string) *corev1.Pod { return web("w", node, inNamespace(namespace)) }
	pods := []*corev1.Pod{on("shop", "a"), on("shop", "a"), on("bank", "a"), on("shop", "b"), on("bank", "b"), on("bank", "c")}
	const evicted = ""
	tests := map[string]struct {
		config Descheduler
		want   []string
		// wantNode are the refusals that are about the node of the pod.
		wantNode []bool
	}{
		"no limit": {want: []string{evicted, evicted, evicted, evicted, evicted, evicted}},
		"one of a node": {
			config:   Descheduler{MaxPerNode: new(int64(1))},
			want:     []string{evicted, "maxNoOfPodsToEvictPerNode 1 of a round is reached", "maxNoOfPodsToEvictPerNode 1 of a round is reached", evicted, "maxNoOfPodsToEvictPerNode 1 of a round is reached", evicted},
			wantNode: []bool{false, true, true, false, true, false},
		},
		"two of a namespace": {
			config: Descheduler{MaxPerNamespace: new(int64(2))},
			want:   []string{evicted, evicted, evicted, "maxNoOfPodsToEvictPerNamespace 2 of a round is reached", evicted, "maxNoOfPodsToEvictPerNamespace 2 of a round is reached"},
		},
		"three in all": {
			config: Descheduler{MaxTotal: new(int64(3))},
			want: []string{evicted, evicted, evicted, "maxNoOfPodsToEvictTotal 3 of a round is reached", "maxNoOfPodsToEvictTotal 3 of a round is reached",
				"maxNoOfPodsToEvictTotal 3 of a round is reached"},
		},
		"what is refused counts nowhere": {
			config: Descheduler{MaxPerNode: new(int64(1)), MaxPerNamespace: new(int64(1)), MaxTotal: new(int64(2))},
			want: []string{evicted, "maxNoOfPodsToEvictPerNode 1 of a round is reached", "maxNoOfPodsToEvictPerNode 1 of a round is reached", "maxNoOfPodsToEvictPerNamespace 1 of a round is reached",
				evicted, "maxNoOfPodsToEvictTotal 2 of a round is reached"},
			wantNode: []bool{false, true, true, false, false, false},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			limits := newEvictionLimits(&tc.config)
			var got []string
			for i, p := range pods {
				reached, node := limits.take(p)
				got = append(got, reached)
				if want := len(tc.wantNode) > 0 && tc.wantNode[i]; node != want {
					t.Errorf("pod %d is refused for its node: %t, want %t", i, node, want)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("refusals (-want +got):\n%s", diff)
			}
		})
	}
}
