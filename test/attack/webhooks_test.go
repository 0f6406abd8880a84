package attack

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/configuration"
	"koordinator.sh/koord/controllers/webhookserver"
	"koordinator.sh/koord/test/freeport"
	"koordinator.sh/koord/test/sandboxtest"
)

// handmade is a review of a pod that no API server sent: its answer would tell whether a quota exists.
const handmade = `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"1","operation":"CREATE","namespace":"default","name":"p",
"kind":{"version":"v1","kind":"Pod"},"resource":{"version":"v1","resource":"pods"},
"object":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"default","labels":{"quota.scheduling.koordinator.sh/name":"theirs"}}}}}`

// TestANeighbourOnTheNetworkIsNotAnswered asks the webhooks as anyone who reaches their port.
func TestANeighbourOnTheNetworkIsNotAnswered(t *testing.T) {
	port := portOf(t, "managerWebhooks")
	pki := func(name string) tls.Certificate {
		pair, err := tls.LoadX509KeyPair(filepath.Join(shared.Directory(), "pki", name+".crt"), filepath.Join(shared.Directory(), "pki", name+".key"))
		if err != nil {
			t.Fatal(err)
		}
		return pair
	}
	post := func(config *tls.Config, path string) (int, error) {
		config.InsecureSkipVerify = true //nolint:gosec // an attacker does not care who answers
		client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{TLSClientConfig: config, DisableKeepAlives: true}}
		response, err := client.Post(fmt.Sprintf("https://127.0.0.1:%d%s", port, path), "application/json", strings.NewReader(handmade))
		if err != nil {
			return 0, err
		}
		return response.StatusCode, response.Body.Close()
	}
	for _, path := range []string{"/validate-pod", "/mutate-pod", "/validate-configmap", "/validate-eviction", "/nothing"} {
		t.Run("without a certificate, "+path, func(t *testing.T) {
			if code, err := post(&tls.Config{}, path); err == nil {
				t.Errorf("answered with %d", code)
			}
		})
	}
	// The identities of the cluster's own components do: none of them is an API server.
	for _, name := range []string{"koordlet", "koord-scheduler", "kube-scheduler", "etcd-client"} {
		t.Run("as "+name, func(t *testing.T) {
			if code, err := post(&tls.Config{Certificates: []tls.Certificate{pki(name)}}, "/validate-pod"); err == nil {
				t.Errorf("answered with %d", code)
			}
		})
	}
	t.Run("the API server is answered", func(t *testing.T) {
		if code, err := post(&tls.Config{Certificates: []tls.Certificate{pki("front-proxy")}}, "/validate-pod"); err != nil || code != http.StatusOK {
			t.Errorf("answered with %d, %v; want 200", code, err)
		}
	})
}

// TestNoPortSpeaksAnOlderTLS than 1.3.
func TestNoPortSpeaksAnOlderTLS(t *testing.T) {
	for _, name := range []string{"managerWebhooks", "managerDiagnostics", "managerMetrics", "scheduler", "schedulerDiagnostics"} {
		address := fmt.Sprintf("127.0.0.1:%d", portOf(t, name))
		for version, wantErr := range map[uint16]bool{tls.VersionTLS12: true, tls.VersionTLS13: false} {
			dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, MinVersion: version, MaxVersion: version}} //nolint:gosec // to be refused
			connection, err := dialer.DialContext(t.Context(), "tcp", address)
			if (err != nil) != wantErr {
				t.Errorf("%s, %s: %v, want an error: %t", name, tls.VersionName(version), err, wantErr)
			}
			if err == nil {
				_ = connection.Close() // nothing was sent
			}
		}
	}
}

// TestManyLargeReviewsAtOnceAreNotRead sends 300 reviews of 7 MB, which were 1.2 GiB of memory.
func TestManyLargeReviewsAtOnceAreNotRead(t *testing.T) {
	var mu sync.Mutex
	most, now := 0, 0
	hook := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		now++
		most = max(most, now)
		mu.Unlock()
		_, _ = io.Copy(io.Discard, r.Body) // what it says is of no interest
		mu.Lock()
		now--
		mu.Unlock()
	})
	url := serveHook(t, hook)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec // an attacker does not care who answers
	body := bytes.Repeat([]byte{'x'}, 7_000_000)
	codes := map[int]int{}
	var group sync.WaitGroup
	for range 300 {
		group.Go(func() {
			response, err := client.Post(url, "application/json", bytes.NewReader(body))
			if err != nil {
				return // the server hung up on a body that it did not want
			}
			defer response.Body.Close()
			mu.Lock()
			defer mu.Unlock()
			codes[response.StatusCode]++
		})
	}
	group.Wait()
	if most > 3 || codes[http.StatusOK] == 0 {
		t.Errorf("%d reviews were read at once, answers %v; want at most 3, and some that are answered", most, codes)
	}
}

// serveHook serves a hook as koord-manager serves its own, and returns where.
func serveHook(t *testing.T, hook http.Handler) (url string) {
	t.Helper()
	certified := httptest.NewTLSServer(nil) // for its certificate
	certified.Close()
	port := freeport.Next(t)
	server := webhookserver.New(webhookserver.Options{Host: "127.0.0.1", Port: port, Certificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		return &certified.TLS.Certificates[0], nil
	}})
	server.Register("/review", hook)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- server.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	sandboxtest.Eventually(t, patience, func() error { return server.StartedChecker()(nil) })
	return fmt.Sprintf("https://127.0.0.1:%d/review", port)
}

// TestTheConfigurationIsNotDeleted tries to withdraw everything at once, as somebody who administers the cluster might by mistake.
func TestTheConfigurationIsNotDeleted(t *testing.T) {
	configMaps := admin.CoreV1().ConfigMaps(systemNamespace)
	attempts := map[string]func() error{
		"by name": func() error {
			return configMaps.Delete(t.Context(), configuration.DefaultConfigMapName, metav1.DeleteOptions{})
		},
		"in a dry run": func() error {
			return configMaps.Delete(t.Context(), configuration.DefaultConfigMapName, metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})
		},
		"with all ConfigMaps": func() error {
			return configMaps.DeleteCollection(t.Context(), metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}, metav1.ListOptions{})
		},
	}
	for name, attempt := range attempts {
		t.Run(name, func(t *testing.T) { refusedBy(t, attempt(), "KOORD0217") })
	}
	t.Run("as a tenant", func(t *testing.T) {
		err := tenant.CoreV1().ConfigMaps(systemNamespace).Delete(t.Context(), configuration.DefaultConfigMapName, metav1.DeleteOptions{})
		refusedBy(t, err, "cannot delete resource")
	})
}
