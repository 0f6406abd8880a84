package explain

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
)

// TestPluginsThatEvictNobodySayWhy asks for a pod of a quota that is full, on a node that is full, too.
func TestPluginsThatEvictNobodySayWhy(t *testing.T) {
	c := newShippedCluster(t)
	tests := []struct {
		name  string
		build func()
		want  []diagnosticsv1alpha1.PreemptionDecline
	}{
		{
			name:  "without quotas nobody is asked before Kubernetes",
			build: func() { c.addPod(on(0, newPod("peer", "cpu", "14"))) },
		},
		{
			name: "pods that are as important, or not preemptible",
			build: func() {
				c.addQuota(newQuota("a", "", 0, 6))
				c.addPod(inQuota("a", on(0, newPod("peer", "cpu", "2"))))
				kept := of(100, inQuota("a", on(0, newPod("kept", "cpu", "2"))))
				kept.Labels[extension.LabelQuotaPreemptible] = "false"
				c.addPod(kept)
			},
			want: []diagnosticsv1alpha1.PreemptionDecline{{
				Plugin: "ElasticQuota", Message: "none of the 2 pods of quota a can be preempted: 1 with the same or higher priority, 1 not preemptible",
			}},
		},
		{
			name: "a quota without pods on nodes",
			build: func() {
				c.addQuota(newQuota("a", "", 0, 6))
				c.addPod(on(0, newPod("peer", "cpu", "14")))
			},
			want: []diagnosticsv1alpha1.PreemptionDecline{{
				Plugin: "ElasticQuota", Message: "quota a has no pods on nodes",
			}},
		},
		{
			name: "what the last one says, too, is said once",
			build: func() {
				c.addQuota(newQuota("a", "", 0, 20))
				c.addPod(of(100, inQuota("a", on(0, newPod("own", "cpu", "2")))))
				c.addPod(on(0, newPod("peer", "cpu", "14")))
			},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c.clear()
			c.addNode(newNode(0))
			test.build()
			c.addPod(inQuota("a", newPod("asked", "cpu", "15")))
			if diff := cmp.Diff(test.want, c.explain("asked").Preemption.Declined); diff != "" {
				t.Errorf("declined (-want +got):\n%s", diff)
			}
		})
	}
}
