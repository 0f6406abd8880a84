package live

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
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

// TestAnswersOfThisMachineAreNotCompressed: it would cost more than it saves. The API server has servers behind it compress their answers
// unless it is told not to.
func TestAnswersOfThisMachineAreNotCompressed(t *testing.T) {
	tests := map[string]struct {
		config rest.Config
		want   string
	}{
		"on this machine":        {rest.Config{Host: "https://127.0.0.1:6443"}, "identity"},
		"elsewhere":              {rest.Config{Host: "https://10.0.0.1:6443"}, ""},
		"as the kubeconfig says": {rest.Config{Host: "https://10.0.0.1:6443", DisableCompression: true}, "identity"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			config, got := Prepare(&test.config, Options{}), ""
			inner := roundTrip(func(request *http.Request) { got = request.Header.Get("Accept-Encoding") })
			sent := http.RoundTripper(inner)
			if config.WrapTransport != nil {
				sent = config.WrapTransport(inner)
			}
			request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, config.Host, nil)
			response, err := sent.RoundTrip(request)
			if err != nil {
				t.Fatal(err)
			}
			if err := response.Body.Close(); err != nil {
				t.Fatal(err)
			}
			if got != test.want || request.Header.Get("Accept-Encoding") != "" {
				t.Errorf("sent with Accept-Encoding %q, want %q; the caller's has %q", got, test.want, request.Header.Get("Accept-Encoding"))
			}
		})
	}
}

// roundTrip sees requests and answers nothing.
type roundTrip func(*http.Request)

func (r roundTrip) RoundTrip(request *http.Request) (*http.Response, error) {
	r(request)
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
}
