package live

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/scheduling/kueueview"
)

// queue adds Kueue, with a Workload of an owner that waits for quota, and its LocalQueue.
func (b *clusterBuilder) queue(owner string) *clusterBuilder {
	object := func(kind, name string, fields map[string]any) unstructured.Unstructured {
		fields["apiVersion"], fields["kind"] = "kueue.x-k8s.io/v1beta2", kind
		fields["metadata"] = map[string]any{"namespace": "ml", "name": name, "ownerReferences": []any{map[string]any{"uid": owner, "name": owner}}}
		return unstructured.Unstructured{Object: fields}
	}
	list := func(kind string, item unstructured.Unstructured) *unstructured.UnstructuredList {
		return &unstructured.UnstructuredList{
			Object: map[string]any{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind}, Items: []unstructured.Unstructured{item},
		}
	}
	b.list("workloads", list("WorkloadList", object("Workload", "train-1a2b3", map[string]any{
		"spec": map[string]any{"queueName": "jobs", "podSets": []any{map[string]any{"count": int64(1)}}},
		"status": map[string]any{"conditions": []any{map[string]any{
			"type": "QuotaReserved", "status": "False", "reason": "WaitingForQuota", "message": "insufficient unused quota",
		}}},
	})))
	return b.list("localqueues", list("LocalQueueList", object("LocalQueue", "jobs", map[string]any{"spec": map[string]any{"clusterQueue": "batch"}})))
}

// admission is the scheduling gate of pods that Kueue has not admitted.
const admission = "kueue.x-k8s.io/admission"

func gatedBy(gates ...string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.UID, p.Spec.SchedulerName = "1", "koord-scheduler"
		for _, gate := range gates {
			p.Spec.SchedulingGates = append(p.Spec.SchedulingGates, corev1.PodSchedulingGate{Name: gate})
		}
	}
}

func TestAPodThatKueueHoldsIsExplainedByItsWorkload(t *testing.T) {
	const waits = `Kueue has not reserved quota of ClusterQueue "batch" for Workload "train-1a2b3": insufficient unused quota`
	tests := map[string]struct {
		gates          []string
		edit           func(*clusterBuilder)
		wantCode       finding.Code
		wantSummary    string
		wantIncomplete string
		wantAsked      bool
	}{
		"held by Kueue": {
			gates: []string{admission}, edit: func(b *clusterBuilder) { b.queue("1") },
			wantCode: finding.KueueNotAdmitted, wantSummary: "gated: " + waits, wantAsked: true,
		},
		"held by both gates of Kueue": {
			gates: []string{admission, "kueue.x-k8s.io/topology"}, edit: func(b *clusterBuilder) { b.queue("1") },
			wantCode: finding.KueueNotAdmitted, wantSummary: "gated: " + waits, wantAsked: true,
		},
		"held by another gate, too": {
			gates: []string{admission, "example.com/image"}, edit: func(b *clusterBuilder) { b.queue("1") },
			wantCode: finding.SchedulingGated, wantSummary: "gated: waiting for scheduling gates: [kueue.x-k8s.io/admission example.com/image]; " + waits, wantAsked: true,
		},
		"held by another gate alone": {
			gates: []string{"example.com/image"}, edit: func(b *clusterBuilder) { b.queue("1") },
			wantCode: finding.SchedulingGated, wantSummary: "gated: waiting for scheduling gates: [example.com/image]",
		},
		"the Workload is another's": {
			gates: []string{admission}, edit: func(b *clusterBuilder) { b.queue("2") },
			wantCode:    finding.KueueUnresponsive,
			wantSummary: "gated: Kueue has made no Workload for the pod: it is not running, or does not manage this namespace or kind", wantAsked: true,
		},
		"without Kueue": {
			gates: []string{admission}, edit: func(*clusterBuilder) {},
			wantCode: finding.KueueUnresponsive, wantSummary: "gated: the pod waits for Kueue, which is not installed in this cluster", wantAsked: true,
		},
		"an older version of Kueue": {
			gates: []string{admission}, edit: func(b *clusterBuilder) { b.queue("1").server.NotServed = []string{"kueue.x-k8s.io/v1beta2"} },
			wantCode: finding.KueueNotAdmitted, wantSummary: "gated: " + waits, wantAsked: true,
		},
		"no permission for Workloads": {
			gates: []string{admission}, edit: func(b *clusterBuilder) { b.queue("1").denied("list workloads") },
			wantCode: finding.SchedulingGated, wantSummary: "gated: waiting for scheduling gates: [kueue.x-k8s.io/admission]", wantAsked: true,
			wantIncomplete: `list workloads.kueue.x-k8s.io in namespace "ml": not permitted for user "eve"; what Kueue waits for is unknown (KOORD0002)`,
		},
		"no permission for LocalQueues": {
			gates: []string{admission}, edit: func(b *clusterBuilder) { b.queue("1").denied("get localqueues") },
			wantCode: finding.KueueNotAdmitted, wantAsked: true,
			wantSummary:    `gated: Kueue has not reserved quota of LocalQueue "jobs" for Workload "train-1a2b3": insufficient unused quota`,
			wantIncomplete: `get localqueues.kueue.x-k8s.io "jobs" in namespace "ml": not permitted for user "eve"; which ClusterQueue it belongs to is unknown (KOORD0002)`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cluster := makeCluster().pod("ml", "train", "", "1", gatedBy(tc.gates...))
			tc.edit(cluster)
			answer, err := cluster.source(t).ExplainPod(t.Context(), "ml", "train", diagnosticsv1alpha1.PodExplanationSpec{})
			if err != nil {
				t.Fatal(err)
			}
			status := &answer.Status
			if diff := cmp.Diff([]string{string(tc.wantCode), tc.wantSummary}, []string{status.Code, status.Summary}); diff != "" {
				t.Errorf("code and summary (-want +got):\n%s", diff)
			}
			if tc.wantIncomplete != "" && !slices.Contains(status.Incomplete, tc.wantIncomplete) {
				t.Errorf("incomplete %q, want %q", status.Incomplete, tc.wantIncomplete)
			}
			asked := slices.ContainsFunc(cluster.server.Requests(), func(r string) bool { return strings.Contains(r, kueueview.Group) })
			if asked != tc.wantAsked {
				t.Errorf("Kueue asked: %t, want %t", asked, tc.wantAsked)
			}
		})
	}
}
