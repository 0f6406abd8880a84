package realnode

import (
	"encoding/json"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/sandbox/realnode"
)

// batchOf is what the batch pod is limited to. It is not among its resources, because a machine that is busy offers none of them; what it
// requests there counts for nothing.
const batchOf = `{"containers":{"main":{
	"requests":{"kubernetes.io/batch-cpu":"500","kubernetes.io/batch-memory":"64Mi"},"limits":{"kubernetes.io/batch-cpu":"500","kubernetes.io/batch-memory":"64Mi"}}}}`

// testProtected holds best-effort pods back by a quota, because a machine of two CPUs has none to take from them, tells of it, and
// lets go.
func (r *rig) testProtected(t *testing.T) {
	batch := r.pod("batch", realnode.WorkloadImage, nil, "-cpus=1")
	batch.Labels = map[string]string{extension.LabelPodQoS: string(extension.QoSBE)}
	batch.Annotations = map[string]string{extension.AnnotationExtendedResourceSpec: batchOf}
	batch.Spec.PriorityClassName = string(extension.PriorityBatch)
	r.create(t, batch)
	r.awaitReady(t, "batch")
	k := r.kernel(t)
	half := 50_000 * r.capacity(t) // of the machine's CPU time in a period
	r.configure(t, "resource-threshold-config", map[string]any{"enable": true, "cpuSuppressThresholdPercent": 50, "cpuSuppressPolicy": "cfsQuota"})
	k.wantQuota(t, func(quota int64) bool { return quota > 0 && quota <= half })
	log := r.follow(t)
	r.testExplained(t, k, half)
	r.configure(t, "resource-threshold-config", map[string]any{"enable": false})
	k.wantQuota(t, func(quota int64) bool { return quota == -1 })
	log.await(t, bySuppression, k.quota(), "no feature sets it any more")
	log.interrupt(t)
}

// capacity is how many CPUs the node has.
func (r *rig) capacity(t *testing.T) int64 {
	t.Helper()
	node, err := r.client.CoreV1().Nodes().Get(t.Context(), r.node, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return node.Status.Capacity.Cpu().Value()
}

// configure sets the strategy of a key for all nodes.
func (r *rig) configure(t *testing.T, key string, strategy map[string]any) {
	t.Helper()
	value, err := json.Marshal(map[string]any{"clusterStrategy": strategy})
	if err != nil {
		t.Fatal(err)
	}
	patch, err := json.Marshal(map[string]any{"data": map[string]string{key: string(value)}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.client.CoreV1().ConfigMaps("koordinator-system").Patch(t.Context(), "slo-controller-config", types.MergePatchType, patch, metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
}
