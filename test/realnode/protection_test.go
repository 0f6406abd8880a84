package realnode

import (
	"encoding/json"
	"fmt"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/sandbox/realnode"
	"koordinator.sh/koord/test/sandboxtest"
)

// testProtected holds best-effort pods back by a quota, because a machine of two CPUs has none to take from them, and lets go.
func (r *rig) testProtected(t *testing.T) {
	batch := r.pod("batch", realnode.WorkloadImage, nil, "-cpus=1")
	batch.Labels = map[string]string{extension.LabelPodQoS: string(extension.QoSBE)}
	batch.Spec.PriorityClassName = string(extension.PriorityBatch)
	r.create(t, batch)
	r.awaitReady(t, "batch")
	tree, err := files.NewReal("/sys/fs/cgroup")
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	layout, err := cgroup.Probe(tree, "koord-sandbox-"+r.Name)
	if err != nil {
		t.Fatal(err)
	}
	half := int64(50_000) // of the machine's CPU time in a period, times the CPUs
	capacity, err := r.capacity(t)
	if err != nil {
		t.Fatal(err)
	}
	r.configure(t, map[string]any{"enable": true, "cpuSuppressThresholdPercent": 50, "cpuSuppressPolicy": "cfsQuota"})
	wantQuota(t, tree, layout, func(quota int64) bool { return quota > 0 && quota <= half*capacity })
	r.configure(t, map[string]any{"enable": false})
	wantQuota(t, tree, layout, func(quota int64) bool { return quota == -1 })
}

// capacity is how many CPUs the node has.
func (r *rig) capacity(t *testing.T) (int64, error) {
	node, err := r.client.CoreV1().Nodes().Get(t.Context(), r.node, metav1.GetOptions{})
	if err != nil {
		return 0, err
	}
	return node.Status.Capacity.Cpu().Value(), nil
}

// configure sets the strategy for all nodes.
func (r *rig) configure(t *testing.T, strategy map[string]any) {
	t.Helper()
	value, err := json.Marshal(map[string]any{"clusterStrategy": strategy})
	if err != nil {
		t.Fatal(err)
	}
	patch, err := json.Marshal(map[string]any{"data": map[string]string{"resource-threshold-config": string(value)}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.client.CoreV1().ConfigMaps("koordinator-system").Patch(t.Context(), "slo-controller-config", types.MergePatchType, patch, metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

// wantQuota waits for the quota of all best-effort pods together, in microseconds in a period.
func wantQuota(t *testing.T, tree files.FS, layout cgroup.Layout, is func(int64) bool) {
	t.Helper()
	path, _ := layout.Path(cgroup.CPUQuota, layout.QoS(corev1.PodQOSBestEffort))
	sandboxtest.Eventually(t, patience, func() error {
		content, err := tree.Read(path, nil)
		if err != nil {
			return err
		}
		value, err := cgroup.CPUQuota.Decode(layout.Version, string(content))
		if err != nil {
			return err
		}
		quota, err := strconv.ParseInt(value, 10, 64)
		if err == nil && !is(quota) {
			err = fmt.Errorf("%s is %d", path, quota)
		}
		return err
	})
}
