package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"

	"koordinator.sh/koord/bench/controlplane"
	"koordinator.sh/koord/bench/exposition"
	"koordinator.sh/koord/bench/process"
	"koordinator.sh/koord/sandbox/pki"
	"koordinator.sh/koord/sandbox/state"
)

const (
	systemNamespace = pki.Namespace
	// configurationName is the name of both webhook configurations.
	configurationName = "koordinator-admission"
	// waitTimeout bounds waits for what has to come.
	waitTimeout = 10 * time.Minute
)

// ports of koord-manager on loopback, in the place of the default ones, which something else may use.
type ports struct{ metrics, health, diagnostics, webhooks int }

// install installs the system into a control plane as a user does, but for the processes.
func install(ctx context.Context, plane *controlplane.ControlPlane) (ports, error) {
	free, err := process.FreePorts(4)
	if err != nil {
		return ports{}, err
	}
	p := ports{free[0], free[1], free[2], free[3]}
	answer, err := plane.Sandbox.Koordctl(ctx, "install", "--set", "workloads.enabled=false", "--set", "manager.service.externalName=localhost",
		"--set", fmt.Sprintf("manager.service.port=%d", p.diagnostics), "--set", fmt.Sprintf("manager.service.webhookPort=%d", p.webhooks))
	if err == nil && answer.Code != 0 {
		err = fmt.Errorf("koordctl install: exit code %d\n%s%s", answer.Code, answer.Stdout, answer.Stderr)
	}
	return p, err
}

// koordManager is a koord-manager that runs.
type koordManager struct {
	*process.Process
	plane *controlplane.ControlPlane
	// metrics reaches its metrics.
	metrics *rest.Config
}

// startManager runs koord-manager with its default flags, but for addresses, and with the rights that the chart gives it. It
// returns when the manager is ready and its webhooks are registered.
func startManager(ctx context.Context, plane *controlplane.ControlPlane, program string, p ports) (*koordManager, error) {
	token, err := plane.MetricsToken(ctx, systemNamespace)
	if err != nil {
		return nil, err
	}
	started, err := process.Start(ctx, "koord-manager", filepath.Join(plane.Home, "koord-manager.log"), program,
		"--kubeconfig="+pki.KubeconfigFile(state.At(plane.Sandbox.Directory()), "koord-manager"),
		fmt.Sprintf("--metrics-bind-address=127.0.0.1:%d", p.metrics),
		fmt.Sprintf("--health-probe-bind-address=127.0.0.1:%d", p.health),
		"--diagnostics-bind-address=127.0.0.1", fmt.Sprintf("--diagnostics-port=%d", p.diagnostics),
		"--webhook-bind-address=127.0.0.1", fmt.Sprintf("--webhook-port=%d", p.webhooks), fmt.Sprintf("--webhook-service-port=%d", p.webhooks))
	if err != nil {
		return nil, err
	}
	m := &koordManager{Process: started, plane: plane, metrics: &rest.Config{
		Host: fmt.Sprintf("https://127.0.0.1:%d", p.metrics), BearerToken: token,
		TLSClientConfig: rest.TLSClientConfig{Insecure: true}, // its certificate names the service
	}}
	if err := errors.Join(awaitReady(ctx, p.health), awaitRegistered(ctx, plane)); err != nil {
		return nil, errors.Join(fmt.Errorf("wait for koord-manager: %w\n%s", err, m.Tail()), m.Stop())
	}
	return m, nil
}

func awaitReady(ctx context.Context, port int) error {
	client := &http.Client{Timeout: 5 * time.Second}
	return wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, waitTimeout, true, func(ctx context.Context) (bool, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/readyz", port), nil)
		if err != nil {
			return false, err
		}
		response, err := client.Do(request)
		if err != nil {
			return false, nil // it does not listen yet
		}
		return response.StatusCode == http.StatusOK, response.Body.Close()
	})
}

// awaitRegistered waits until both webhook configurations have webhooks.
func awaitRegistered(ctx context.Context, plane *controlplane.ControlPlane) error {
	registrations := plane.Client.AdmissionregistrationV1()
	return wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, waitTimeout, true, func(ctx context.Context) (bool, error) {
		mutating, err := registrations.MutatingWebhookConfigurations().Get(ctx, configurationName, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		validating, err := registrations.ValidatingWebhookConfigurations().Get(ctx, configurationName, metav1.GetOptions{})
		return err == nil && len(mutating.Webhooks) > 0 && len(validating.Webhooks) > 0, err
	})
}

// usage is what has been used so far.
type usage struct {
	// cpu of koord-manager, and that of the API server and etcd together.
	cpu, controlPlane time.Duration
	// requests of koord-manager to the API server.
	requests float64
}

func (m *koordManager) usage(ctx context.Context) (usage, error) {
	const requests = "rest_client_requests_total"
	read, err := exposition.Scrape(ctx, m.metrics, requests)
	if err != nil {
		return usage{}, fmt.Errorf("read the metrics of koord-manager: %w\n%s", err, m.Tail())
	}
	used := usage{requests: read.Sum(requests)}
	if used.cpu, err = m.CPU(); err != nil {
		return usage{}, err
	}
	used.controlPlane, err = m.plane.CPU()
	return used, err
}

func (u usage) minus(before usage) usage {
	return usage{u.cpu - before.cpu, u.controlPlane - before.controlPlane, u.requests - before.requests}
}

func (u usage) plus(more usage) usage {
	return usage{u.cpu + more.cpu, u.controlPlane + more.controlPlane, u.requests + more.requests}
}
