package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/decision/core/configmerge"
	"koordinator.sh/koord/sandbox/component"
	"koordinator.sh/koord/sandbox/pki"
	"koordinator.sh/koord/sandbox/state"
	"koordinator.sh/koord/test/freeport"
	"koordinator.sh/koord/test/sandboxtest"
)

const (
	configName   = "slo-controller-config"
	managerLease = "koordinator-manager"
)

// replica is a koord-manager that a test runs beside the sandbox's own. The two share lease, certificates and configuration.
type replica struct {
	*process
	// webhooks is the port where it serves the admission webhooks, and has them registered while it leads.
	webhooks int
	// diagnostics is the port where it answers questions.
	diagnostics int
	// health is the port of its probes.
	health int
}

// managerFile is the kubeconfig of the sandbox's manager, with no more rights than it needs.
func managerFile() string {
	return pki.KubeconfigFile(state.At(shared.Directory()), component.Manager)
}

// startManager starts a replica that reaches the API server by a kubeconfig, and waits until it answers. It ends with the
// test.
func startManager(t *testing.T, kubeconfig string, flags ...string) *replica {
	t.Helper()
	r := launchManager(t, kubeconfig, flags...)
	sandboxtest.Eventually(t, patience, func() error { return ready(t.Context(), r.health) })
	return r
}

// launchManager is startManager without the wait.
func launchManager(t *testing.T, kubeconfig string, flags ...string) *replica {
	t.Helper()
	logFile, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	r := &replica{process: &process{ended: make(chan struct{})}, webhooks: freeport.Next(t), diagnostics: freeport.Next(t), health: freeport.Next(t)}
	r.command = exec.Command(shared.Program(component.Manager), append([]string{
		"--kubeconfig=" + kubeconfig, "--metrics-bind-address=0",
		fmt.Sprintf("--health-probe-bind-address=127.0.0.1:%d", r.health),
		"--diagnostics-bind-address=127.0.0.1", fmt.Sprintf("--diagnostics-port=%d", r.diagnostics),
		"--webhook-bind-address=127.0.0.1", fmt.Sprintf("--webhook-port=%d", r.webhooks), fmt.Sprintf("--webhook-service-port=%d", r.webhooks),
	}, flags...)...)
	r.command.Stdout, r.command.Stderr = logFile, logFile
	if err := r.command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = r.command.Wait() // how it ended is in its state
		close(r.ended)
	}()
	t.Cleanup(func() {
		_ = r.command.Process.Kill() // it may have ended
		<-r.ended
		_ = logFile.Close() // written by the process
		if data, err := os.ReadFile(logFile.Name()); t.Failed() && err == nil {
			t.Logf("the log of the manager with webhooks at %d ends:\n%s", r.webhooks, data[max(0, len(data)-3000):])
		}
	})
	return r
}

// ready asks a manager whether it serves.
func ready(ctx context.Context, port int) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/readyz", port), nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }() // only its status is read
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the manager at %d answers %s", port, response.Status)
	}
	return nil
}

// kill ends the replica as a machine that fails does.
func (r *replica) kill(t *testing.T) {
	t.Helper()
	r.signal(t, syscall.SIGKILL)
	<-r.ended
}

// suspend stops the sandbox's manager, as a machine that hangs does. The function that it returns ends it for good, and waits
// until the sandbox has started another one; the end of the test does so too.
func suspend(t *testing.T) (replace func()) {
	t.Helper()
	before := componentOf(t, component.Manager)
	if before.PID <= 0 {
		t.Fatalf("the sandbox's manager is %s", before.Phase)
	}
	sandboxtest.Pause(t, before.PID)
	replace = sync.OnceFunc(func() {
		if err := syscall.Kill(before.PID, syscall.SIGKILL); err != nil {
			t.Errorf("kill the sandbox's manager: %v", err)
		}
	})
	t.Cleanup(replace)
	return replace
}

// vacate takes the lease from a leader that is down, so that no replica has to wait until it expires.
func vacate(t *testing.T) {
	t.Helper()
	err := client.CoordinationV1().Leases(systemNamespace).Delete(t.Context(), managerLease, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
}

// registeredPort is where the API server asks for admission: at the replica that leads.
func registeredPort(ctx context.Context) (int, error) {
	configuration, err := client.AdmissionregistrationV1().MutatingWebhookConfigurations().Get(ctx, "koordinator-admission", metav1.GetOptions{})
	if err != nil {
		return 0, err
	}
	if len(configuration.Webhooks) == 0 || configuration.Webhooks[0].ClientConfig.Service == nil {
		return 0, fmt.Errorf("no webhooks are registered")
	}
	return int(*configuration.Webhooks[0].ClientConfig.Service.Port), nil
}

// ownPort is where the sandbox's own manager serves the webhooks.
func ownPort(t *testing.T) int {
	t.Helper()
	return ownPorts(t).ManagerWebhooks
}

// ownPorts are where the sandbox's own components serve.
func ownPorts(t *testing.T) state.Ports {
	t.Helper()
	ports := state.Ports{}
	data, err := os.ReadFile(filepath.Join(shared.Directory(), "ports.json"))
	if err == nil {
		err = json.Unmarshal(data, &ports)
	}
	if err != nil {
		t.Fatal(err)
	}
	return ports
}

// awaitLeader waits until the manager whose webhooks are at a port leads, and has said so in both registrations.
func awaitLeader(t *testing.T, port int) {
	t.Helper()
	sandboxtest.Eventually(t, patience, func() error {
		got, err := registeredPort(t.Context())
		if err != nil {
			return err
		}
		validating, err := client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(t.Context(), "koordinator-admission", metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, webhook := range validating.Webhooks {
			if asked := int(*webhook.ClientConfig.Service.Port); asked != port {
				return fmt.Errorf("%s asks at %d, want %d", webhook.Name, asked, port)
			}
		}
		if got != port {
			return fmt.Errorf("the manager with webhooks at %d leads, want %d", got, port)
		}
		return nil
	})
}

// backToTheSandbox has the sandbox's own manager lead at the end of the test.
func backToTheSandbox(t *testing.T) {
	own := ownPort(t)
	t.Cleanup(func() {
		ctx := context.Background()
		// Whoever else led has ended with the test.
		if port, err := registeredPort(ctx); err == nil && port != own {
			_ = client.CoordinationV1().Leases(systemNamespace).Delete(ctx, managerLease, metav1.DeleteOptions{})
		}
		sandboxtest.Eventually(t, patience, func() error {
			port, err := registeredPort(ctx)
			if err == nil && port != own {
				err = fmt.Errorf("webhooks are asked at %d, want %d", port, own)
			}
			return err
		})
	})
}

// keepConfiguration returns slo-controller-config, and puts it back after the test, whatever became of it.
func keepConfiguration(t *testing.T) map[string]string {
	t.Helper()
	configMaps := client.CoreV1().ConfigMaps(systemNamespace)
	before, err := configMaps.Get(t.Context(), configName, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.Background()
		sandboxtest.Eventually(t, patience, func() error {
			now, err := configMaps.Get(ctx, configName, metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				fresh := before.DeepCopy()
				fresh.ResourceVersion, fresh.UID = "", ""
				_, err = configMaps.Create(ctx, fresh, metav1.CreateOptions{})
				return err
			}
			if err != nil || maps.Equal(now.Data, before.Data) {
				return err
			}
			now.Data = before.Data
			_, err = configMaps.Update(ctx, now, metav1.UpdateOptions{})
			return err
		})
	})
	return before.Data
}

// editConfiguration writes some keys of slo-controller-config at once.
func editConfiguration(ctx context.Context, data map[string]string) error {
	patch, err := json.Marshal(map[string]any{"data": data})
	if err != nil {
		return err
	}
	_, err = client.CoreV1().ConfigMaps(systemNamespace).Patch(ctx, configName, types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}

// changed is a configuration with other values in colocation-config and in the cluster's strategy of
// resource-threshold-config.
func changed(t *testing.T, data map[string]string, colocation, threshold map[string]any) map[string]string {
	t.Helper()
	document := map[string]any{}
	if err := json.Unmarshal([]byte(data["colocation-config"]), &document); err != nil {
		t.Fatal(err)
	}
	maps.Copy(document, colocation)
	out := maps.Clone(data)
	for key, value := range map[string]any{"colocation-config": document, "resource-threshold-config": map[string]any{"clusterStrategy": threshold}} {
		text, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		out[key] = string(text)
	}
	return out
}

// parsed is a configuration that is sound.
func parsed(t *testing.T, data map[string]string) configmerge.Config {
	t.Helper()
	config, problems := configmerge.Parse(data)
	if len(problems) > 0 {
		t.Fatalf("the test's configuration has problems: %v", problems)
	}
	return config
}

// leaseRenewals waits until the leader has renewed its lease so often: a while in which it could have done anything.
func leaseRenewals(t *testing.T, want int) {
	t.Helper()
	var last time.Time
	seen := -1
	sandboxtest.Eventually(t, patience, func() error {
		lease, err := client.CoordinationV1().Leases(systemNamespace).Get(t.Context(), managerLease, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if renewed := lease.Spec.RenewTime; renewed != nil && renewed.After(last) {
			last = renewed.Time
			seen++
		}
		if seen < want {
			return fmt.Errorf("the lease was renewed %d times, want %d", seen, want)
		}
		return nil
	})
}
