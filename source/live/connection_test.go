package live

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"koordinator.sh/koord/api/finding"
)

// TestWhatIsWrongWithTheConnectionHasACodeOfItsOwn: only who has no kubeconfig at all is offered a sandbox.
func TestWhatIsWrongWithTheConnectionHasACodeOfItsOwn(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	server.Config.ErrorLog = nil
	t.Cleanup(server.Close)
	config := clientcmdapi.NewConfig()
	config.Clusters["c"] = &clientcmdapi.Cluster{Server: server.URL}
	config.AuthInfos["u"] = &clientcmdapi.AuthInfo{}
	config.Contexts["good"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	config.Contexts["dangling"] = &clientcmdapi.Context{Cluster: "gone", AuthInfo: "u"}
	config.Contexts["refused"] = &clientcmdapi.Context{Cluster: "refused", AuthInfo: "u"}
	config.Clusters["refused"] = &clientcmdapi.Cluster{Server: "https://127.0.0.1:1"}
	config.CurrentContext = "good"
	file := filepath.Join(t.TempDir(), "config")
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(t.TempDir(), "bad")
	if err := os.WriteFile(bad, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		file, context string
		want          finding.Code
		wantSandbox   bool
	}{
		"a certificate of another authority": {file, "", finding.CertificateRejected, false},
		"an unknown context":                 {file, "nowhere", finding.ContextUnknown, false},
		"a context without its cluster":      {file, "dangling", finding.ContextUnknown, false},
		"a server that is down":              {file, "refused", finding.ClusterUnreachable, false},
		"a kubeconfig that is no YAML":       {bad, "", finding.KubeconfigInvalid, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(&clientcmd.ClientConfigLoadingRules{ExplicitPath: tc.file},
				&clientcmd.ConfigOverrides{CurrentContext: tc.context})
			_, err := New(loader, Options{Context: tc.context}).ConfigurationNodes(t.Context())
			found, ok := finding.From(err)
			if !ok || found.Code != tc.want || strings.Contains(found.Hint, "sandbox up") != tc.wantSandbox || found.Hint == "" {
				t.Errorf("error %v, %+v, want code %s", err, found, tc.want)
			}
		})
	}
	t.Run("no kubeconfig", func(t *testing.T) {
		if found, ok := finding.From(ConfigFailure(clientcmd.ErrEmptyConfig)); !ok || !strings.Contains(found.Hint, "sandbox up") {
			t.Errorf("got %+v", found)
		}
	})
}
