package attack

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// portOf reads which loopback port a component of the sandbox listens on.
func portOf(t *testing.T, name string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(shared.Directory(), "ports.json"))
	if err != nil {
		t.Fatal(err)
	}
	ports := map[string]int{}
	if err := json.Unmarshal(text, &ports); err != nil || ports[name] == 0 {
		t.Fatalf("no port of %s in %s: %v", name, text, err)
	}
	return ports[name]
}

// ask a server of the sandbox directly, as the user of a token.
func ask(t *testing.T, port int, method, path, token string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, fmt.Sprintf("https://127.0.0.1:%d%s", port, path), strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	client := &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec // an attacker does not care who answers
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// tenantToken is a token as every pod of the tenant has it.
func tenantToken(t *testing.T) string {
	t.Helper()
	token, err := admin.CoreV1().ServiceAccounts(tenantNamespace).CreateToken(t.Context(), tenantName, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return token.Status.Token
}

// TestTheStateOfTheSchedulerIsNotForTenants: every cluster lets all who are authenticated get /apis/*.
func TestTheStateOfTheSchedulerIsNotForTenants(t *testing.T) {
	port, token := portOf(t, "schedulerDiagnostics"), tenantToken(t)
	for _, path := range []string{
		"/apis/v1/__services__", "/apis/v1/nodes/sim-0001", "/apis/v1/plugins/ElasticQuota/quotas", "/apis/v1/plugins/Coscheduling/gangs",
		"/apis/v1/plugins/NodeNUMAResource/nodes/sim-0001", "/apis/v1/plugins/DeviceShare/nodeDeviceSummaries", "/apis/v1//plugins/ElasticQuota/quotas", "/apis/v1/../v1/nodes/sim-0001",
	} {
		t.Run("tenant, "+path, func(t *testing.T) {
			if code, body := ask(t, port, http.MethodGet, path, token); code != http.StatusForbidden && code != http.StatusMovedPermanently && code != http.StatusTemporaryRedirect {
				t.Errorf("answered with %d: %.200s", code, body)
			}
		})
		t.Run("anonymous, "+path, func(t *testing.T) {
			if code, body := ask(t, port, http.MethodGet, path, ""); code != http.StatusForbidden && code != http.StatusUnauthorized {
				t.Errorf("answered with %d: %.200s", code, body)
			}
		})
	}
	t.Run("an explanation without the diagnostics API", func(t *testing.T) {
		if code, body := ask(t, port, http.MethodPost, "/explain/pod", token); code != http.StatusForbidden {
			t.Errorf("answered with %d: %.200s", code, body)
		}
	})
	t.Run("profiles", func(t *testing.T) {
		if code, body := ask(t, port, http.MethodGet, "/debug/pprof/heap", token); code != http.StatusForbidden {
			t.Errorf("answered with %d: %.200s", code, body)
		}
	})
}
