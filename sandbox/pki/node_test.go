package pki

import (
	"crypto/x509"
	"encoding/pem"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/sandbox/state"
)

// TestCertificatesOfARealNode are what the Node authorizer, and who calls kubelet, go by.
func TestCertificatesOfARealNode(t *testing.T) {
	dir := state.Open(t.TempDir(), "demo")
	if err := dir.Create(); err != nil {
		t.Fatal(err)
	}
	bundle, err := Ensure(dir, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	pairs, err := bundle.EnsureNode(dir, time.Now, "box", "10.231.7.1")
	if err != nil {
		t.Fatal(err)
	}
	type subject struct {
		User      string
		Groups    []string
		Names     []string
		Addresses int
	}
	want := map[string]subject{
		"kubelet": {User: "system:node:box", Groups: []string{"system:nodes"}},
		"serving": {User: "system:node:box", Groups: []string{"system:nodes"}, Names: []string{"box"}, Addresses: 1},
		"caller":  {User: KubeletClientUser},
	}
	got := map[string]subject{}
	for name, pair := range map[string]Pair{"kubelet": bundle.Client(NodeKubeconfig), "serving": pairs.Serving, "caller": pairs.Caller} {
		data, err := os.ReadFile(pair.CertFile)
		if err != nil {
			t.Fatal(err)
		}
		block, _ := pem.Decode(data)
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		got[name] = subject{cert.Subject.CommonName, cert.Subject.Organization, cert.DNSNames, len(cert.IPAddresses)}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("certificates (-want +got):\n%s", diff)
	}
	if err := bundle.WriteKubeconfigs(dir, "demo", 6443); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(KubeconfigFile(dir, NodeKubeconfig)); err != nil {
		t.Errorf("kubeconfig of the node: %v", err)
	}
}
