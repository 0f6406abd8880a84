package securedport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/client-go/kubernetes/fake"
	certutil "k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"koordinator.sh/koord/test/eventually"
)

// byToken knows users by the token that is their name; only prometheus may do anything.
func byToken() *Access {
	return &Access{
		authenticator: authenticator.RequestFunc(func(r *http.Request) (*authenticator.Response, bool, error) {
			name, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
			return &authenticator.Response{User: &user.DefaultInfo{Name: name}}, found, nil
		}),
		authorizer: authorizer.AuthorizerFunc(func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
			if a.GetUser().GetName() == "prometheus" && a.GetVerb() == "get" {
				return authorizer.DecisionAllow, "", nil
			}
			return authorizer.DecisionDeny, "", nil
		}),
	}
}

// startServer runs the secured port on a free port until the test ends.
func startServer(t *testing.T, client *fake.Clientset, change func(*Options, *Server)) *Server {
	t.Helper()
	options := &Options{Component: "koord-descheduler", BindAddress: net.IPv4(127, 0, 0, 1)}
	change(options, nil)
	s, err := New(t.Context(), client, *options, byToken())
	if err != nil {
		t.Fatal(err)
	}
	change(options, s)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Start(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func get(ctx context.Context, s *Server, config *tls.Config, path, token string) (int, string, error) {
	client := http.Client{Transport: &http.Transport{TLSClientConfig: config, DisableKeepAlives: true}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+s.serving.Listener.Addr().String()+path, nil)
	if err != nil {
		return 0, "", err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = response.Body.Close() }() // read to its end
	body, err := io.ReadAll(response.Body)
	return response.StatusCode, string(body), err
}

// answer asks until the server accepts a connection, as the configuration verifies it.
func answer(t *testing.T, s *Server, config *tls.Config, path string) (status int, body string) {
	t.Helper()
	eventually.True(t, "the server answers "+path, func() bool {
		var err error
		status, body, err = get(t.Context(), s, config, path, "")
		return err == nil
	})
	return status, body
}

func TestOnlyHealthIsServedToEverybody(t *testing.T) {
	gauge := prometheus.NewGauge(prometheus.GaugeOpts{Name: "served_in_this_test"})
	gauge.Set(1)
	metrics.Registry.MustRegister(gauge)
	t.Cleanup(func() { metrics.Registry.Unregister(gauge) })
	s := startServer(t, fake.NewClientset(), func(_ *Options, s *Server) {
		if s != nil {
			s.Handle("/explain", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("explained")) }))
			s.ServeDebugging(true)
		}
	})
	unverified := &tls.Config{InsecureSkipVerify: true} // as probes do
	for _, path := range []string{"/livez", "/healthz", "/readyz"} {
		if status, body := answer(t, s, unverified, path); status != http.StatusOK || body != "ok" {
			t.Errorf("%s: %d %q", path, status, body)
		}
	}
	tests := map[string]struct {
		path, token string
		want        int
		wantBody    string
	}{
		"metrics of nobody":              {"/metrics", "", http.StatusUnauthorized, ""},
		"metrics of a stranger":          {"/metrics", "stranger", http.StatusForbidden, ""},
		"metrics of prometheus":          {"/metrics", "prometheus", http.StatusOK, "served_in_this_test 1"},
		"diagnostics of nobody":          {"/explain", "", http.StatusUnauthorized, ""},
		"diagnostics of one who may":     {"/explain", "prometheus", http.StatusOK, "explained"},
		"profiles of a stranger":         {"/debug/pprof/", "stranger", http.StatusForbidden, ""},
		"profiles of one who may":        {"/debug/pprof/", "prometheus", http.StatusOK, "goroutine"},
		"a path that is not there":       {"/other", "prometheus", http.StatusNotFound, ""},
		"a path below that of metrics":   {"/metrics/x", "", http.StatusUnauthorized, ""},
		"a detour to metrics":            {"/livez/../metrics", "", http.StatusUnauthorized, ""},
		"a path below that of liveness":  {"/livez/metrics", "", http.StatusUnauthorized, ""},
		"health with a stranger's token": {"/livez", "stranger", http.StatusOK, "ok"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			status, body, err := get(t.Context(), s, unverified, tc.path, tc.token)
			if err != nil || status != tc.want || !strings.Contains(body, tc.wantBody) {
				t.Errorf("%d %.200q, %v; want %d and %q", status, body, err, tc.want, tc.wantBody)
			}
		})
	}
	response, err := http.Get("http://" + s.serving.Listener.Addr().String() + "/livez")
	if err == nil {
		_ = response.Body.Close()
		if response.StatusCode == http.StatusOK {
			t.Error("health is served without TLS")
		}
	}
	if _, _, err := get(t.Context(), s, &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12}, "/livez", ""); err == nil {
		t.Error("TLS 1.2 is served")
	}
}

// TestTheCertificateOfTheSecretIsServedOnceItIsThere: until then the process lives and is not ready.
func TestTheCertificateOfTheSecretIsServedOnceItIsThere(t *testing.T) {
	client := fake.NewClientset()
	s := startServer(t, client, func(options *Options, _ *Server) { options.CertSecret = "koordinator-system/serving" })
	unverified := &tls.Config{InsecureSkipVerify: true}
	if status, body := answer(t, s, unverified, "/readyz"); status != http.StatusServiceUnavailable || !strings.Contains(body, "koordinator-system") {
		t.Errorf("ready without a certificate: %d %q", status, body)
	}
	if status, _, err := get(t.Context(), s, unverified, "/livez", ""); err != nil || status != http.StatusOK {
		t.Errorf("it does not live without a certificate: %d, %v", status, err)
	}
	issued, key, err := certutil.GenerateSelfSignedCertKey("koord-descheduler.koordinator-system.svc", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "koordinator-system", Name: "serving"}, Type: corev1.SecretTypeTLS,
		Data: map[string][]byte{corev1.TLSCertKey: issued, corev1.TLSPrivateKeyKey: key},
	}
	if _, err := client.CoreV1().Secrets(secret.Namespace).Create(t.Context(), secret, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(issued)
	verified := &tls.Config{RootCAs: roots, ServerName: "koord-descheduler.koordinator-system.svc"}
	answer(t, s, verified, "/livez")
	if status, body, err := get(t.Context(), s, verified, "/readyz", ""); err != nil || status != http.StatusOK {
		t.Errorf("it is not ready with a certificate: %d %q, %v", status, body, err)
	}
}

func TestItIsNotReadyBeforeItsCachesAre(t *testing.T) {
	synced := make(chan struct{})
	s := startServer(t, fake.NewClientset(), func(_ *Options, s *Server) {
		if s != nil {
			s.Ready = append(s.Ready, func(ctx context.Context) bool {
				select {
				case <-synced:
					return true
				case <-ctx.Done():
					return false
				}
			})
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := s.checkReady(ctx); err == nil || !strings.Contains(err.Error(), "caches") {
		t.Errorf("ready without caches: %v", err)
	}
	close(synced)
	if err := s.checkReady(t.Context()); err != nil {
		t.Errorf("not ready with caches: %v", err)
	}
}
