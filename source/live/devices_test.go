package live

import (
	"slices"
	"strings"
	"testing"

	"koordinator.sh/koord/source"
)

// TestOneNodeIsAskedForAlone: the Device, the node and the pods of one node are selected by the API server.
func TestOneNodeIsAskedForAlone(t *testing.T) {
	server := equipped()
	server.Start(t)
	list, err := New(server.Config(""), Options{}).DeviceOverviews(t.Context(), source.DeviceQuery{Names: []string{"node-0000"}})
	if err != nil || len(list.Items) != 1 || list.Items[0].Name != "node-0000" || len(list.Items[0].Findings) != 1 {
		t.Fatalf("overviews %+v, error %v", list, err)
	}
	for _, want := range []string{"/devices?fieldSelector=metadata.name%3Dnode-0000", "/nodes?fieldSelector=metadata.name%3Dnode-0000", "/pods?fieldSelector=spec.nodeName%3Dnode-0000"} {
		if !slices.ContainsFunc(server.Requests(), func(request string) bool { return strings.Contains(request, want) }) {
			t.Errorf("no request has %s: %q", want, server.Requests())
		}
	}
}
