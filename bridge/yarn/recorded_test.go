package yarn

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestRecordedResponses: what a ResourceManager of Hadoop 3.4.2 answered with one NodeManager of 2 vcores and 2048 MiB, recorded by
// go test ./test/engines/yarn -update, is read as it was meant.
func TestRecordedResponses(t *testing.T) {
	read := func(name string) []byte {
		content, err := os.ReadFile(filepath.Join("testdata", name+".bin"))
		if err != nil {
			t.Fatal(err)
		}
		return content
	}
	nodes, err := parseNodes(read("getClusterNodes"))
	want := []Node{{ID: NodeID{Host: "localhost"}, State: StateRunning, Capability: Resource{VCores: 2, MiB: 2048}}}
	if diff := cmp.Diff(want, nodes, cmpopts.IgnoreFields(NodeID{}, "Port"), cmpopts.IgnoreFields(Node{}, "HTTPAddress")); err != nil || diff != "" {
		t.Errorf("parseNodes(), %v (-want +got):\n%s", err, diff)
	}
	if pending, err := parsePending(read("getQueueInfo")); err != nil || pending != (Resource{}) {
		t.Errorf("parsePending() = %+v, %v", pending, err)
	}
}
