package integration

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/sandbox/component"
	"koordinator.sh/koord/test/sandboxtest"
)

const (
	// away is how long the API server is: longer than a lease lasts and than the scheduler tries to renew it.
	away = 45 * time.Second
	// boundAgain is how soon after its return a pod must be bound: the lease of the process that ended is waited for, 15 s.
	boundAgain = 30 * time.Second
)

// TestTheSchedulerIsBackAfterAnAPIServerThatWasAway stops the API server for longer than the scheduler's lease lasts. The process
// ends, as it must not write what it decided before; the next one is started at once, waits in place, and binds.
func TestTheSchedulerIsBackAfterAnAPIServerThatWasAway(t *testing.T) {
	const pool, inFlight, waiting = "away", 8, 6
	watcher := observe(t)
	machines(t, pool, 2)
	namespace := space(t, "inv-away")
	one := func(name string) *corev1.Pod {
		return binding(demand(namespace, name, pool, "cpu", "1", "memory", "1Gi"), "")
	}
	before := componentOf(t, component.Scheduler)
	mustSubmit(t, one("before"))
	decided(t, namespace, "before")
	for i := range inFlight { // their bindings are on the way, or in its queue, when the API server stops
		mustSubmit(t, one(fmt.Sprintf("in-flight-%d", i)))
	}
	resume := pause(t, "kube-apiserver")
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	said := ""
	for until := time.Now().Add(away); time.Now().Before(until); <-tick.C {
		if why, err := schedulerReadiness(t); err == nil {
			said = why
		}
		if now := componentOf(t, component.Scheduler); now.Restarts > before.Restarts+1 {
			t.Fatalf("it ended %d times while the API server was away, the last time with %s", now.Restarts-before.Restarts, now.LastExit)
		}
	}
	if now := componentOf(t, component.Scheduler); now.Restarts != before.Restarts+1 || now.PID == 0 {
		t.Errorf("it was restarted %d times and has pid %d; want once, and running", now.Restarts-before.Restarts, now.PID)
	}
	if !strings.Contains(said, "waiting for the API server: ") {
		t.Errorf("/readyz of the process that waits says %q, want what for", said)
	}
	resume()
	resumed := time.Now()
	for i := range waiting {
		sandboxtest.Eventually(t, patience, func() error { return submit(t.Context(), one(fmt.Sprintf("after-%d", i))) })
	}
	sandboxtest.Eventually(t, boundAgain, func() error {
		bound, pending, err := boundIn(t.Context(), namespace)
		if err == nil && len(bound) < 1+inFlight+waiting {
			err = fmt.Errorf("%d pods are bound, and %d pending", len(bound), len(pending))
		}
		return err
	})
	t.Logf("%d pods were bound within %s", inFlight+waiting, time.Since(resumed))
	sandboxtest.Eventually(t, patience, func() error { // the manager is who it was to it: its clients are authenticated
		result := koordctl(t, 0, "explain", "pod", "monthly-report", "-n", "analytics", "-o", "json")
		if !strings.Contains(result.Stdout, `"component": "koord-scheduler"`) {
			return errors.New("the scheduler does not explain")
		}
		return nil
	})
	if seen := watcher.Seen(); seen.Bindings == 0 {
		t.Error("the watcher saw no binding, so it checked nothing")
	}
}

// schedulerReadiness is what the sandbox's scheduler says of why it is not ready.
func schedulerReadiness(t *testing.T) (string, error) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("https://127.0.0.1:%d/readyz", ownPorts(t).Scheduler), nil)
	if err != nil {
		return "", err
	}
	// A probe does not verify the certificate.
	probe := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	response, err := probe.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }() // it is read
	body, err := io.ReadAll(response.Body)
	return string(body), err
}
