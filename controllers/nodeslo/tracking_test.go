package nodeslo

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

func TestThePatchEndsTheTrackingOfWhatOnlyTheManagerWrites(t *testing.T) {
	mine := metav1.ManagedFieldsEntry{Manager: "koord-manager", Operation: metav1.ManagedFieldsOperationUpdate}
	for name, test := range map[string]struct {
		entries   []metav1.ManagedFieldsEntry
		unchanged bool
		want      string
	}{
		"only the manager has written":                    {entries: []metav1.ManagedFieldsEntry{mine}, want: `[{}]`},
		"the manager has written two versions of the API": {entries: []metav1.ManagedFieldsEntry{mine, mine}, want: `[{}]`},
		"a user has applied fields of their own": {entries: []metav1.ManagedFieldsEntry{
			mine, {Manager: "kubectl", Operation: metav1.ManagedFieldsOperationApply},
		}},
		"a user has edited it":             {entries: []metav1.ManagedFieldsEntry{mine, {Manager: "kubectl-edit", Operation: metav1.ManagedFieldsOperationUpdate}}},
		"one by the same name applies":     {entries: []metav1.ManagedFieldsEntry{{Manager: "koord-manager", Operation: metav1.ManagedFieldsOperationApply}}},
		"nothing is tracked":               {},
		"the manager has nothing to write": {entries: []metav1.ManagedFieldsEntry{mine}, unchanged: true},
	} {
		t.Run(name, func(t *testing.T) {
			existing := &slov1alpha1.NodeSLO{ObjectMeta: metav1.ObjectMeta{Name: "node-a", ResourceVersion: "7", ManagedFields: test.entries}}
			want := &slov1alpha1.NodeSLO{ObjectMeta: metav1.ObjectMeta{Name: "node-a"}}
			if !test.unchanged {
				want.Spec.CPUBurstStrategy = &slov1alpha1.CPUBurstStrategy{}
			}
			body, err := patch(existing, want)
			if err != nil {
				t.Fatal(err)
			}
			if test.unchanged {
				if body != nil {
					t.Errorf("patch %s although nothing changed", body)
				}
				return
			}
			var sent struct {
				Metadata struct {
					ResourceVersion string          `json:"resourceVersion"`
					ManagedFields   json.RawMessage `json:"managedFields"`
				} `json:"metadata"`
			}
			if err := json.Unmarshal(body, &sent); err != nil {
				t.Fatal(err)
			}
			if got := string(sent.Metadata.ManagedFields); got != test.want || sent.Metadata.ResourceVersion != "7" {
				t.Errorf("patch %s, want managed fields %q over version 7", body, test.want)
			}
		})
	}
}

func TestTheCacheKeepsWhoWroteAndNotWhat(t *testing.T) {
	slo := &slov1alpha1.NodeSLO{ObjectMeta: metav1.ObjectMeta{Name: "node-a", ManagedFields: []metav1.ManagedFieldsEntry{{
		Manager: "koord-manager", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "slo.koordinator.sh/v1alpha1",
		Time: &metav1.Time{Time: time.Unix(1, 0)}, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{}}`),
	}}}}
	trimmed, err := Trim(slo)
	if err != nil {
		t.Fatal(err)
	}
	want := &slov1alpha1.NodeSLO{ObjectMeta: metav1.ObjectMeta{Name: "node-a", ManagedFields: []metav1.ManagedFieldsEntry{{
		Manager: "koord-manager", Operation: metav1.ManagedFieldsOperationUpdate,
	}}}}
	if diff := cmp.Diff(want, trimmed); diff != "" {
		t.Errorf("NodeSLO in the cache (-want +got):\n%s", diff)
	}
	node := &corev1.Node{}
	if other, err := Trim(node); err != nil || other != any(node) {
		t.Errorf("another object became %v, %v", other, err)
	}
}
