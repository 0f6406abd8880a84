package integration

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"koordinator.sh/koord/test/sandboxtest"
)

// hung is how long the API server hangs: longer than a TLS handshake and a lease wait for it.
const hung = 25 * time.Second

// TestAManagerWaitsForAnAPIServerThatHangsAtItsStart starts managers, one of them without leader election, while the API server
// is stopped: they live, are not ready, say why, and serve once it goes on.
func TestAManagerWaitsForAnAPIServerThatHangsAtItsStart(t *testing.T) {
	resume := pause(t, "kube-apiserver")
	replicas := map[string]*replica{
		"standalone":   launchManager(t, managerFile(), "--leader-elect=false", "--webhook-port=0", "--manage-certificates=false"),
		"with a lease": launchManager(t, managerFile()),
	}
	said := map[string]string{}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for until := time.Now().Add(hung); time.Now().Before(until); <-tick.C {
		for name, r := range replicas {
			select {
			case <-r.ended:
				t.Fatalf("the manager %s ended: %v", name, r.command.ProcessState)
			default:
			}
			if err := ready(t.Context(), r.health); err == nil {
				t.Fatalf("the manager %s is ready without an API server", name)
			}
			if why, err := readiness(r.health); err == nil {
				said[name] = why
			}
		}
	}
	for name := range replicas {
		if !strings.Contains(said[name], "waiting for the API server: ") {
			t.Errorf("/readyz of the manager %s says %q, want why it waits", name, said[name])
		}
	}
	resume()
	for name, r := range replicas {
		sandboxtest.Eventually(t, patience, func() error {
			select {
			case <-r.ended:
				t.Fatalf("the manager %s ended: %v", name, r.command.ProcessState)
			default:
			}
			return ready(t.Context(), r.health)
		})
	}
}

// readiness is what a manager says of why it is not ready.
func readiness(port int) (string, error) {
	response, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/readyz", port))
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }() // it is read
	body, err := io.ReadAll(response.Body)
	return string(body), err
}
