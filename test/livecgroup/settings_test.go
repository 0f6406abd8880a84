package livecgroup

import (
	"testing"

	"koordinator.sh/koord/agent/host/cgroup"
)

func TestTheLayoutIsFound(t *testing.T) {
	tree := Open(t)
	if layout, err := cgroup.Probe(tree, tree.Root); err == nil {
		t.Errorf("found %+v before there is anything of kubelet's", layout)
	}
	want := tree.Layout()
	tree.Make(want.Kubepods())
	if layout, err := cgroup.Probe(tree, "/"+tree.Root); err != nil || layout != want {
		t.Errorf("found %+v, %v, want %+v", layout, err, want)
	}
}
