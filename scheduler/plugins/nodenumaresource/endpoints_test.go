package nodenumaresource

import (
	"strings"
	"testing"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/scheduler/services/servicestest"
)

func TestWhatNodesHaveLeft(t *testing.T) {
	f := newFixture(t, "", newNode("n", nil), newNode("bare", nil))
	f.report(newReport("n"))
	pod := newPod("owner", extension.QoSLSR, "4")
	pod.Spec.NodeName = "n"
	pod.Annotations[extension.AnnotationResourceStatus] = `{"cpuset":"0-3","numaNodeResources":[{"node":0,"resources":{"cpu":"4"}}]}`
	f.assume(pod, "n")
	nodes := servicestest.Nodes{f.info("n"), f.info("bare")}
	code, got := servicestest.Get(t, f.plugin, nodes, "nodes/n")
	for _, want := range []string{
		`"name":"n"`, `"allocatedCPUs":"0-3"`, `"allocatedNUMANodeResources":[{"node":0,"resources":{"cpu":"4"}}`,
		`"allocatedPods":[{"namespace":"default","name":"owner","uid":"owner","cpuset":"0-3"`,
	} {
		if code != 200 || !strings.Contains(got, want) {
			t.Errorf("code %d, %s is missing in %s", code, want, got)
		}
	}
	for path, want := range map[string]string{"nodes/bare": "reports no CPU topology", "nodes/m": "cannot find node m"} {
		if code, got := servicestest.Get(t, f.plugin, nodes, path); code != 404 || !strings.Contains(got, want) {
			t.Errorf("%s: code %d, %s", path, code, got)
		}
	}
}
