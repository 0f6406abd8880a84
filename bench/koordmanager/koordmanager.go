// Package koordmanager runs koord-manager as a whole process for benchmarks, on a control plane without the system's other components.
package koordmanager

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
	"koordinator.sh/koord/bench/process"
	"koordinator.sh/koord/sandbox/pki"
	"koordinator.sh/koord/sandbox/state"
)

const (
	// ConfigurationName is the name of both webhook configurations.
	ConfigurationName = "koordinator-admission"
	// waitTimeout bounds waits for what has to come.
	waitTimeout = 10 * time.Minute
)

// Ports of koord-manager on loopback, in the place of the default ones, which something else may use.
type Ports struct {
	metrics, health, diagnostics, webhooks int
	// Scheduler is where it looks for koord-scheduler's diagnostics.
	Scheduler int
}

// Install installs the system into a control plane as a user does, but for the processes.
func Install(ctx context.Context, plane *controlplane.ControlPlane) (Ports, error) {
	free, err := process.FreePorts(5)
	if err != nil {
		return Ports{}, err
	}
	p := Ports{free[0], free[1], free[2], free[3], free[4]}
	answer, err := plane.Sandbox.Koordctl(ctx, "install", "--set", "workloads.enabled=false", "--set", "manager.service.externalName=localhost",
		"--set", fmt.Sprintf("manager.service.port=%d", p.diagnostics), "--set", fmt.Sprintf("manager.service.webhookPort=%d", p.webhooks))
	if err == nil && answer.Code != 0 {
		err = fmt.Errorf("koordctl install: exit code %d\n%s%s", answer.Code, answer.Stdout, answer.Stderr)
	}
	return p, err
}

// Manager is a koord-manager that runs.
type Manager struct {
	*process.Process
	// Metrics reaches its metrics.
	Metrics *rest.Config
}

// Start runs koord-manager with its default flags, but for addresses, and with the rights that the chart gives it. It
// returns when the manager is ready and its webhooks are registered.
func Start(ctx context.Context, plane *controlplane.ControlPlane, program string, p Ports) (*Manager, error) {
	token, err := plane.MetricsToken(ctx, pki.Namespace)
	if err != nil {
		return nil, err
	}
	started, err := process.Start(ctx, "koord-manager", filepath.Join(plane.Home, "koord-manager.log"), program,
		"--kubeconfig="+pki.KubeconfigFile(state.At(plane.Sandbox.Directory()), "koord-manager"),
		fmt.Sprintf("--metrics-bind-address=127.0.0.1:%d", p.metrics),
		fmt.Sprintf("--health-probe-bind-address=127.0.0.1:%d", p.health),
		"--diagnostics-bind-address=127.0.0.1", fmt.Sprintf("--diagnostics-port=%d", p.diagnostics),
		"--webhook-bind-address=127.0.0.1", fmt.Sprintf("--webhook-port=%d", p.webhooks), fmt.Sprintf("--webhook-service-port=%d", p.webhooks),
		fmt.Sprintf("--scheduler-endpoint=https://127.0.0.1:%d", p.Scheduler))
	if err != nil {
		return nil, err
	}
	m := &Manager{Process: started, Metrics: &rest.Config{
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
		mutating, err := registrations.MutatingWebhookConfigurations().Get(ctx, ConfigurationName, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		validating, err := registrations.ValidatingWebhookConfigurations().Get(ctx, ConfigurationName, metav1.GetOptions{})
		return err == nil && len(mutating.Webhooks) > 0 && len(validating.Webhooks) > 0, err
	})
}
