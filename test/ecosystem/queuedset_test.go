package ecosystem

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/scheduling/kueueview"
	"koordinator.sh/koord/test/sandboxtest"
)

// rankQueue is a ClusterQueue that lacks room for one of the ranks of a JobSet.
const rankQueue = `
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: any-node}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: batch}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu, memory]
    flavors:
    - name: any-node
      resources:
      - {name: cpu, nominalQuota: 400m}
      - {name: memory, nominalQuota: 64Gi}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {namespace: NAMESPACE, name: jobs}
spec: {clusterQueue: batch}
`

// TestKueueAdmitsJobSetWithGang has Kueue hold a JobSet whole, of which a part would fit, and koord-scheduler bind its pods together.
func TestKueueAdmitsJobSetWithGang(t *testing.T) {
	r := newRig(t, jobset, kueue)
	namespace := r.space(t, "training")
	for _, object := range parse(t, []byte(strings.ReplaceAll(rankQueue, "NAMESPACE", namespace))) {
		r.create(t, object)
	}
	r.createSet(t, namespace, "queued", true, func(object *unstructured.Unstructured) {
		object.SetLabels(map[string]string{kueueview.QueueLabel: localQueue})
	})
	sandboxtest.Eventually(t, patience, func() error {
		result, err := r.Koordctl(t.Context(), "explain", "job", "queued-leader-0", "-n", namespace, "-o", "jsonpath={.heldBy} {.code} {.queue.clusterQueue}")
		if want := fmt.Sprintf("Kueue %s %s", finding.KueueNotAdmitted, clusterQueue); err == nil && result.Stdout != want {
			err = fmt.Errorf("the leader is explained by %q, want %q: %s", result.Stdout, want, result.Stderr)
		}
		return err
	})
	if pods, err := r.ranksOf(t, namespace, "queued"); err != nil || len(pods) > 0 {
		t.Errorf("%d pods of a JobSet that Kueue holds, error %v", len(pods), err)
	}
	r.raise(t, "500m")
	r.awaitRanks(t, namespace, "queued", ranks)
}
