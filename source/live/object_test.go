package live

import (
	"strings"
	"testing"

	"koordinator.sh/koord/source"
)

func TestObjectsAreReadWhole(t *testing.T) {
	server := small()
	server.Start(t)
	src := New(server.Config(""), Options{})
	tests := map[string]struct {
		kind            source.Kind
		namespace, name string
		wantKind        string
		wantError       string
	}{
		"a node, whatever the namespace": {kind: source.KindNode, namespace: "ignored", name: "node-0000", wantKind: "Node"},
		"a pod":                          {kind: source.KindPod, namespace: server.Pods[0].Namespace, name: server.Pods[0].Name, wantKind: "Pod"},
		"a pod that does not exist":      {kind: source.KindPod, namespace: "default", name: "gone", wantError: `"gone"`},
		"a kind that is not read":        {kind: source.Kind{Name: "thing"}, name: "default", wantError: "unknown kind"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := src.Object(t.Context(), test.kind, test.namespace, test.name)
			if test.wantError != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantError) {
					t.Errorf("error %v, want one with %q", err, test.wantError)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got.GetKind() != test.wantKind || got.GetName() != test.name || got.Object["status"] == nil || got.GetManagedFields() != nil {
				t.Errorf("object %+v", got.Object)
			}
		})
	}
}
