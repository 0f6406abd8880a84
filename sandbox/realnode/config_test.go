package realnode

import (
	"flag"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/sandbox/pki"
	"koordinator.sh/koord/sandbox/state"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestConfigurationIsAsWrittenDown compares the whole configuration of containerd, kubelet and the network plugins.
func TestConfigurationIsAsWrittenDown(t *testing.T) {
	n := newNode(t)
	n.Runc, n.Subnet = "/usr/sbin/runc", netip.MustParsePrefix("10.231.7.0/24")
	containerd, err := n.containerdConfig(Machine{Overlay: true, MayLowerOOMScore: true}, 7013)
	must(t, err)
	trust := Trust{CAFile: "/pki/ca.crt", Serving: pki.Pair{CertFile: "/pki/kubelet.crt", KeyFile: "/pki/kubelet.key"}}
	kubelet, err := n.kubeletConfig(Endpoints{Kubelet: 7011, KubeletHealth: 7012, ContainerdMetrics: 7013}, trust)
	must(t, err)
	network, err := n.networkConfig()
	must(t, err)
	for name, got := range map[string][]byte{"containerd.toml": containerd, "kubelet.yaml": kubelet, "network.json": network} {
		text := strings.NewReplacer(n.Dir, "DIR", n.Programs, "PROGRAMS").Replace(string(got))
		path := filepath.Join("testdata", name)
		if *update {
			must(t, os.MkdirAll("testdata", 0o755))
			must(t, os.WriteFile(path, []byte(text), 0o644))
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatalf("%v (-update writes it)", err)
		}
		if diff := cmp.Diff(string(want), text); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

func TestConfigurationThatCannotBeWritten(t *testing.T) {
	n := newNode(t) // nothing has made its directory
	n.Subnet = netip.MustParsePrefix("10.231.7.0/24")
	if err := usual(t).Configure(n, Endpoints{}, Trust{}); err == nil {
		t.Error("Configure() = nil; want an error")
	}
}

func TestCleanWhereThereWasNoRealNode(t *testing.T) {
	dir := state.Open(t.TempDir(), "demo")
	must(t, dir.Create())
	if err := newMachine(t).Clean(t.Context(), dir); err != nil { // nothing of the machine may be looked at
		t.Errorf("Clean() = %v; want nil", err)
	}
}
