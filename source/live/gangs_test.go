package live

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
)

func TestGangsNeedThePodsOnly(t *testing.T) {
	for name, tc := range map[string]struct {
		edit           func(*clusterBuilder)
		wantRules      bool
		wantIncomplete int
		wantErr        bool
	}{
		"with its PodGroup":           {func(*clusterBuilder) {}, true, 0, false},
		"no permission for PodGroups": {func(b *clusterBuilder) { b.denied("list podgroups") }, false, 1, false},
		"PodGroups are not installed": {func(b *clusterBuilder) { b.server.NoCRDs, b.server.Lists = true, nil }, false, 0, false},
		"no permission for pods":      {func(b *clusterBuilder) { b.denied("list pods") }, false, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := makeCluster().pod("ml", "train-0", "", "1", func(p *corev1.Pod) { p.Labels = map[string]string{extension.LabelPodGroup: "train"} })
			cluster.server.Lists = map[string]runtime.Object{"podgroups": &schedulingsigsv1alpha1.PodGroupList{Items: []schedulingsigsv1alpha1.PodGroup{
				{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "train"}, Spec: schedulingsigsv1alpha1.PodGroupSpec{MinMember: 2}},
			}}}
			tc.edit(cluster)
			answer, err := cluster.source(t).Gangs(t.Context())
			if tc.wantErr {
				if err == nil {
					t.Error("gangs without pods")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(answer.Items) != 1 || len(answer.Items[0].Members) != 1 || (answer.Items[0].Spec != nil) != tc.wantRules || len(answer.Incomplete) != tc.wantIncomplete {
				t.Errorf("unexpected answer %+v", answer)
			}
		})
	}
}

// TestEveryMemberIsFound: a pod says in several ways to which gang it belongs, and the others are not kept.
func TestEveryMemberIsFound(t *testing.T) {
	cluster := makeCluster().pod("ml", "single", "", "1").
		pod("ml", "label", "", "1", func(p *corev1.Pod) { p.Labels = map[string]string{extension.LabelPodGroup: "a"} }).
		pod("ml", "annotation", "", "1", func(p *corev1.Pod) { p.Annotations = map[string]string{extension.AnnotationGangName: "b"} }).
		pod("ml", "native", "", "1", func(p *corev1.Pod) { p.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: new("c")} })
	answer, err := cluster.source(t).Gangs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for i := range answer.Items {
		for _, member := range answer.Items[i].Members {
			got[answer.Items[i].Key.Name] += member.Name
		}
	}
	if diff := cmp.Diff(map[string]string{"a": "label", "b": "annotation", "c": "native"}, got); diff != "" {
		t.Errorf("members by gang (-want +got):\n%s", diff)
	}
}
