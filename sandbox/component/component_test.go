package component

import (
	"flag"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/sandbox/pki"
	"koordinator.sh/koord/sandbox/realnode"
	"koordinator.sh/koord/sandbox/state"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestComponents compares everything a sandbox's processes are started with.
func TestComponents(t *testing.T) {
	specs := map[string]state.Spec{
		"system":           {Name: "demo", Nodes: 30, Scenario: "colocation", Seed: 1, Speed: 1, Binaries: "/opt/koord"},
		"system-recorded":  {Name: "demo", Nodes: 1, Seed: 1<<64 - 1, Speed: 0.5 + 60, Trace: "/data/usage of a day.csv", Binaries: "/opt/koord"},
		"kubernetes":       {Name: "bare", KubernetesOnly: true, Speed: 1},
		"other-kubernetes": {Name: "older", KubernetesOnly: true, Speed: 1, KubernetesBinaries: "/opt/kubernetes"},
		"real-node":        {Name: "demo", RealNode: "box", Seed: 1, Speed: 1, Binaries: "/opt/koord"},
		"kubernetes-nodes": {Name: "bare", KubernetesOnly: true, Nodes: 3, Speed: 1},
	}
	for name, spec := range specs {
		t.Run(name, func(t *testing.T) {
			golden(t, filepath.Join("testdata", name+".txt"), describe(newPlan(t, spec)))
		})
	}
}

func TestNoPortIsGivenTwice(t *testing.T) {
	plan := newPlan(t, state.Spec{Nodes: 3, Speed: 1})
	text := describe(plan)
	for _, port := range []int{
		plan.Ports.APIServer, plan.Ports.EtcdClient, plan.Ports.EtcdPeer, plan.Ports.ControllerManager, plan.Ports.Scheduler,
		plan.Ports.SchedulerDiagnostics, plan.Ports.ManagerMetrics, plan.Ports.ManagerHealth, plan.Ports.ManagerDiagnostics, plan.Ports.ManagerWebhooks,
	} {
		if !strings.Contains(text, fmt.Sprint(port)) {
			t.Errorf("port %d is kept free for nobody", port)
		}
	}
	for _, c := range plan.All() {
		for _, arg := range c.Args {
			if strings.Contains(arg, "0.0.0.0") || strings.Contains(arg, "address=:") {
				t.Errorf("%s listens beyond loopback: %s", c.Name, arg)
			}
		}
	}
}

// newPlan has the certificates of a sandbox and one port after the other.
func newPlan(t *testing.T, spec state.Spec) Plan {
	t.Helper()
	dir := state.Open(t.TempDir(), "demo")
	if err := dir.Create(); err != nil {
		t.Fatal(err)
	}
	bundle, err := pki.Ensure(dir, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	ports := state.Ports{
		APIServer: 7001, EtcdClient: 7002, EtcdPeer: 7003, ControllerManager: 7004, Scheduler: 7005,
		SchedulerDiagnostics: 7006, ManagerMetrics: 7007, ManagerHealth: 7008, ManagerDiagnostics: 7009,
		ManagerWebhooks: 7010, Kubelet: 7011, KubeletHealth: 7012, ContainerdMetrics: 7013, KubeScheduler: 7014, Descheduler: 7015,
	}
	return Plan{Spec: spec, Dir: dir, Ports: ports, Bundle: bundle, RealNode: newRealNode(t, dir, spec, bundle)}
}

// newRealNode is that of a spec, if it has one, on a machine whose network decides nothing.
func newRealNode(t *testing.T, dir state.Dir, spec state.Spec, bundle *pki.Bundle) *RealNode {
	t.Helper()
	if spec.RealNode == "" {
		return nil
	}
	node := realnode.Of(dir, spec)
	node.Subnet = netip.MustParsePrefix("10.231.7.0/24")
	pairs, err := bundle.EnsureNode(dir, time.Now, node.Name, node.Address().String())
	if err != nil {
		t.Fatal(err)
	}
	return &RealNode{Node: node, Pairs: pairs}
}

// describe writes a plan down, with DIR for the sandbox's directory.
func describe(p Plan) string {
	var b strings.Builder
	for _, c := range p.All() {
		program := c.Program
		if program == "" {
			program = "(the sandbox's own)"
		}
		fmt.Fprintf(&b, "%s\n  program %s\n", c.Name, program)
		for _, arg := range c.Args {
			fmt.Fprintf(&b, "  %s\n", arg)
		}
		for _, env := range slices.Sorted(slices.Values(c.Env)) {
			fmt.Fprintf(&b, "  env %s\n", env)
		}
		if c.Private {
			fmt.Fprintf(&b, "  in the node's mount namespace\n")
		}
		fmt.Fprintf(&b, "  ready %q ca %q cert %q key %q\n\n", c.Ready.URL, c.Ready.CAFile, c.Ready.Client.CertFile, c.Ready.Client.KeyFile)
	}
	return strings.ReplaceAll(b.String(), p.Dir.Path(), "DIR")
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (-update writes it)", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}
