package ownership

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestHas(t *testing.T) {
	entry := func(manager, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, Subresource: "status", FieldsV1: metav1.NewFieldsV1(fields)}
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{
		entry("koord-manager", `{"f:metadata":{"f:labels":{"f:a/b":{}}}}`), entry("koord-manager", `{"f:status":{"f:capacity":{"f:x":{}}}}`),
		entry("kubelet", `{"f:status":{"f:capacity":{"f:cpu":{}}}}`), entry("koord-manager", `broken`), {Manager: "koord-manager"},
	}}}
	tests := []struct {
		name string
		path []string
		want bool
	}{
		{name: "a label of the first entry", path: []string{"metadata", "labels", "a/b"}, want: true},
		{name: "a resource of the second entry", path: []string{"status", "capacity", "x"}, want: true},
		{name: "what another manager wrote", path: []string{"status", "capacity", "cpu"}},
		{name: "what nobody wrote", path: []string{"metadata", "labels", "c"}},
		{name: "no path at all"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := Of(node, "koord-manager").Has(test.path...); got != test.want {
				t.Errorf("Has(%q) = %t, want %t", test.path, got, test.want)
			}
		})
	}
}
