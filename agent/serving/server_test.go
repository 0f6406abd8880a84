package serving

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/cert"
	"k8s.io/utils/clock"

	"koordinator.sh/koord/api/extension"
)

// apiServer knows the token "manager", with permission to post to /explain/node, and "guest", with none.
func apiServer(t *testing.T) *rest.Config {
	t.Helper()
	authority, _, err := cert.GenerateSelfSignedCertKey("clients", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	reply := func(w http.ResponseWriter, object any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(object)
	}
	mux.HandleFunc("POST /apis/authentication.k8s.io/v1/tokenreviews", func(w http.ResponseWriter, r *http.Request) {
		review := &authenticationv1.TokenReview{}
		_ = json.NewDecoder(r.Body).Decode(review)
		review.Status.Authenticated = len(review.Spec.Audiences) == 0 && (review.Spec.Token == "manager" || review.Spec.Token == "guest")
		if review.Spec.Token == "bound" && slices.Equal(review.Spec.Audiences, []string{extension.AgentAudience}) {
			review.Spec.Token, review.Status.Authenticated, review.Status.Audiences = "manager", true, review.Spec.Audiences
		}
		review.Status.User.Username = review.Spec.Token
		review.TypeMeta = metav1.TypeMeta{APIVersion: "authentication.k8s.io/v1", Kind: "TokenReview"}
		reply(w, review)
	})
	mux.HandleFunc("POST /apis/authorization.k8s.io/v1/subjectaccessreviews", func(w http.ResponseWriter, r *http.Request) {
		review := &authorizationv1.SubjectAccessReview{}
		_ = json.NewDecoder(r.Body).Decode(review)
		asked := review.Spec.NonResourceAttributes
		review.Status.Allowed = review.Spec.User == "manager" && asked != nil && asked.Path == "/explain/node" && asked.Verb == "post"
		review.TypeMeta = metav1.TypeMeta{APIVersion: "authorization.k8s.io/v1", Kind: "SubjectAccessReview"}
		reply(w, review)
	})
	mux.HandleFunc("GET /api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, &corev1.ConfigMap{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
			ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "extension-apiserver-authentication"},
			Data:       map[string]string{"client-ca-file": string(authority)},
		})
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}
}

// start serves until the test ends.
func start(t *testing.T, config *rest.Config, profiling bool) *Server {
	t.Helper()
	server, err := Listen(t.Context(), Options{
		BindAddress: net.IPv4(127, 0, 0, 1), SecurePort: -1, Directory: t.TempDir(), Name: "node-1", RESTConfig: config, Clock: clock.RealClock{}, Profiling: profiling,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	open := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") })
	secured := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "secret") })
	go func() { ended <- server.Run(ctx, open, secured) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	return server
}

// get asks with a token, and takes one certificate alone.
func get(t *testing.T, server *Server, method, path, token string) (int, string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{
		InsecureSkipVerify: true, VerifyConnection: func(state tls.ConnectionState) error {
			if got := Fingerprint(state.PeerCertificates[0]); got != server.Fingerprint() {
				return fmt.Errorf("certificate %s is not the announced one", got)
			}
			return nil
		},
	}}}
	request, err := http.NewRequestWithContext(t.Context(), method, fmt.Sprintf("https://127.0.0.1:%d%s", server.Port(), path), nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

func TestOnlyThoseWhoMayPass(t *testing.T) {
	server := start(t, apiServer(t), true)
	deadline := time.Now().Add(20 * time.Second)
	for code := 0; code != http.StatusOK; code, _ = get(t, server, "POST", "/explain/node", "manager") {
		if time.Now().After(deadline) {
			t.Fatalf("the gate stayed shut, status %d", code)
		}
	}
	tests := map[string]struct {
		method, path, token string
		wantCode            int
	}{
		"who may":                            {"POST", "/explain/node", "manager", 200},
		"who may, with a token for agents":   {"POST", "/explain/node", "bound", 200},
		"who may, but not this":              {"GET", "/explain/node", "manager", 403},
		"who may, but not here":              {"GET", "/audit", "manager", 403},
		"whom the cluster knows":             {"POST", "/explain/node", "guest", 403},
		"whom the cluster does not know":     {"POST", "/explain/node", "thief", 401},
		"nobody":                             {"POST", "/explain/node", "", 401},
		"nobody, for metrics":                {"GET", "/metrics", "", 401},
		"profiles without the right to them": {"GET", "/debug/pprof/", "manager", 403},
		"health is open":                     {"GET", "/healthz", "", 200},
		"being alive is open":                {"GET", "/livez", "", 200},
		"being ready is open":                {"GET", "/readyz", "", 200},
		"what looks like health is not":      {"GET", "/healthz/../audit", "", 401},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			code, body := get(t, server, tc.method, tc.path, tc.token)
			if code != tc.wantCode || code != 200 && strings.Contains(body, "secret") {
				t.Errorf("status %d: %s, want %d", code, body, tc.wantCode)
			}
		})
	}
}

func TestTheGateIsShutWhileNobodyCanBeAuthenticated(t *testing.T) {
	server := start(t, &rest.Config{Host: "http://127.0.0.1:1"}, false)
	if code, body := get(t, server, "GET", "/healthz", ""); code != 200 {
		t.Errorf("health: %d %s", code, body)
	}
	if code, body := get(t, server, "POST", "/explain/node", "manager"); code != 503 || strings.Contains(body, "secret") {
		t.Errorf("status %d: %s, want 503", code, body)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for name, edit := range map[string]func(*Options){
		"a port too large":            func(o *Options) { o.SecurePort = 70000 },
		"a certificate without a key": func(o *Options) { o.CertFile = "x" },
	} {
		t.Run(name, func(t *testing.T) {
			options := NewOptions()
			if err := options.Validate(); err != nil {
				t.Fatal(err)
			}
			edit(options)
			if options.Validate() == nil {
				t.Error("no error")
			}
		})
	}
}
