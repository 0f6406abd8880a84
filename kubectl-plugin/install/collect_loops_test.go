package install

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/deploy/release"
)

// newMove is a job that moved a pod of Deployment web so long ago.
func newMove(name, from, to string, ago time.Duration) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "scheduling.koordinator.sh/v1alpha1", "kind": "PodMigrationJob",
		"metadata": map[string]any{
			"name": name, "creationTimestamp": now.Add(-ago).UTC().Format(time.RFC3339),
			"annotations": map[string]any{
				"descheduler.koordinator.sh/source-node": from, "descheduler.koordinator.sh/source-workload": "Deployment/web/uid",
			},
		},
		"spec":   map[string]any{"podRef": map[string]any{"namespace": "shop", "name": name}},
		"status": map[string]any{"phase": "Succeeded", "nodeName": to},
	}}
}

func TestWorkloadsThatGoInCirclesAreFindings(t *testing.T) {
	configured := func(plugin, args string) *corev1.ConfigMap {
		return &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: release.DefaultNamespace, Name: "koord-descheduler-config"},
			Data: map[string]string{"koord-descheduler-config": "kind: DeschedulerConfiguration\nprofiles:\n- plugins: {balance: {enabled: [{name: " + plugin + "}]}}\n" +
				"  pluginConfig:\n  - {name: " + plugin + ", args: {" + args + "}}\n"},
		}
	}
	back := []runtime.Object{newMove("first", "a", "b", 90*time.Minute), newMove("second", "b", "a", 30*time.Minute)}
	const message = "Deployment/web/uid left node a and was moved back to it from b 1h0m0s later"
	tests := map[string]struct {
		jobs   []runtime.Object
		config []runtime.Object
		want   []string
	}{
		"no job":                   {},
		"onward":                   {jobs: []runtime.Object{newMove("first", "a", "b", time.Hour), newMove("second", "b", "c", time.Minute)}},
		"back to the node it left": {jobs: back, want: []string{message}},
		"back, in the window of the planner": {
			jobs: back, config: []runtime.Object{configured("LoadAwareRebalancing", "historyWindow: 2h")},
			want: []string{message + "; plugins of koord-descheduler do not move it until " + now.Add(30*time.Minute).UTC().Format(time.RFC3339)},
		},
		"back, in that of other plugins": {
			jobs: back, config: []runtime.Object{configured("LowNodeLoad", "")},
			want: []string{message + "; plugins of koord-descheduler do not move it until " + now.Add(22*time.Hour+30*time.Minute).UTC().Format(time.RFC3339)},
		},
		"back after the history window": {
			jobs: []runtime.Object{newMove("first", "a", "b", 3*time.Hour), newMove("second", "b", "a", 30*time.Minute)}, config: []runtime.Object{configured("LoadAwareRebalancing", "historyWindow: 2h")},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c, _ := newTestCollector(append([]runtime.Object{newConfig(`{"enable":true}`)}, test.config...), append(allDefinitions(t), test.jobs...), released("deployed"))
			status, err := c.collect(t.Context(), release.DefaultNamespace)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, found := range status.Findings {
				if found.Code == string(finding.MigrationLoop) {
					got = append(got, found.Message)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}
