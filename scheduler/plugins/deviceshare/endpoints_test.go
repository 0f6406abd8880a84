package deviceshare

import (
	"strings"
	"testing"

	"koordinator.sh/koord/scheduler/services/servicestest"
)

func TestDeviceSummaries(t *testing.T) {
	f := newFixture(t, "", newDevice("n"))
	f.holds(t, "n", "holder", `{"gpu":[{"minor":1,"resources":{"koordinator.sh/gpu-core":"30","koordinator.sh/gpu-memory-ratio":"30"}}]}`)
	f.holds(t, "n", "lost", `{"gpu":[{"minor":9,"resources":{"koordinator.sh/gpu-core":"30"}}]}`)
	nodes := servicestest.Nodes{f.infos["n"]}
	code, one := servicestest.Get(t, f.plugin, nodes, "nodeDeviceSummaries/n")
	for _, want := range []string{
		`"deviceTotal":{"koordinator.sh/gpu-core":"800","koordinator.sh/gpu-memory":"512Gi","koordinator.sh/gpu-memory-ratio":"800","koordinator.sh/rdma":"400"}`,
		`"koordinator.sh/gpu-core":"770"`, `"1":{"koordinator.sh/gpu-core":"70"`,
		`"default/holder":{"1":{"koordinator.sh/gpu-core":"30"`,
		`"strays":[{"pod":"default/lost","type":"gpu","minor":9,"reason":"the node no longer has the device"}]`,
	} {
		if code != 200 || !strings.Contains(one, want) {
			t.Errorf("code %d, %s is missing in %s", code, want, one)
		}
	}
	if code, all := servicestest.Get(t, f.plugin, nodes, "nodeDeviceSummaries"); code != 200 || strings.TrimSpace(all) != `{"n":`+strings.TrimSpace(one)+"}" {
		t.Errorf("all nodes, code %d: %s", code, all)
	}
	delete(f.state.devices, "n")
	for path, want := range map[string]string{"nodeDeviceSummaries/n": "cannot find the Device of node n", "nodeDeviceSummaries/m": "cannot find node m"} {
		if code, got := servicestest.Get(t, f.plugin, nodes, path); code != 404 || !strings.Contains(got, want) {
			t.Errorf("%s: code %d, %s", path, code, got)
		}
	}
}
