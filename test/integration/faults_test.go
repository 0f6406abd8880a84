package integration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/sandbox/control"
	"koordinator.sh/koord/sandbox/state"
	"koordinator.sh/koord/test/sandboxtest"
)

const systemNamespace = "koordinator-system"

// componentOf returns the supervisor's view of one component of the shared sandbox.
func componentOf(t *testing.T, name string) control.Component {
	t.Helper()
	status, err := control.NewClient(state.At(shared.Directory())).Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range status.Components {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("no component %q", name)
	return control.Component{}
}

// kill ends a component with SIGKILL and waits until it runs again.
func kill(t *testing.T, name string) {
	t.Helper()
	before := componentOf(t, name)
	if err := syscall.Kill(before.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	sandboxtest.Eventually(t, patience, func() error {
		after := componentOf(t, name)
		if after.Restarts != before.Restarts+1 || after.Phase != control.Running || after.PID == before.PID {
			return fmt.Errorf("%s: %s, pid %d, %d restarts", name, after.Phase, after.PID, after.Restarts)
		}
		if after.LastExit != "signal: killed" {
			return fmt.Errorf("last exit %q, want it to say that it was killed", after.LastExit)
		}
		return nil
	})
}

// pause stops a component without ending it, as a machine that hangs does, until it is resumed, or the test is over.
func pause(t *testing.T, name string) (resume func()) {
	t.Helper()
	pid := componentOf(t, name).PID
	sandboxtest.Pause(t, pid)
	resume = sync.OnceFunc(func() {
		if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
			t.Errorf("continue %s: %v", name, err)
		}
	})
	t.Cleanup(resume)
	return resume
}

func TestKilledComponentsComeBack(t *testing.T) {
	for _, name := range []string{"koordlets", "koord-scheduler", "koord-manager", "kube-apiserver"} {
		t.Run(name, func(t *testing.T) { kill(t, name) })
	}
	sandboxtest.Eventually(t, patience, func() error {
		result, err := shared.Koordctl(t.Context(), "explain", "node", "sim-0001", "-o", "json")
		if err != nil {
			return err
		}
		if !strings.Contains(result.Stdout, `"component": "koord-manager"`) {
			return fmt.Errorf("the manager does not answer yet: %s", result.Stderr)
		}
		return nil
	})
}

func TestManagerThatHangsIsAnsweredForByTheObjects(t *testing.T) {
	pause(t, "koord-manager")
	result := koordctl(t, 0, "explain", "node", "sim-0003", "batch-cpu", "-o", "json", "--request-timeout=20s")
	var explanation diagnosticsv1alpha1.NodeExplanation
	if err := json.Unmarshal([]byte(result.Stdout), &explanation); err != nil {
		t.Fatal(err)
	}
	if got := explanation.Status.Origin.Component; got != "koordctl" {
		t.Errorf("answered by %q, want koordctl", got)
	}
	if !slices.ContainsFunc(explanation.Status.Findings, func(f diagnosticsv1alpha1.Finding) bool { return f.Code == "KOORD0004" }) {
		t.Errorf("findings %+v do not say that the diagnostics API did not respond", explanation.Status.Findings)
	}
	if len(explanation.Status.Waterfalls) != 1 {
		t.Errorf("%d waterfalls, want 1", len(explanation.Status.Waterfalls))
	}
}

func TestSchedulerThatIsDownIsAnsweredForByTheObjects(t *testing.T) {
	pause(t, "koord-scheduler")
	result := koordctl(t, 0, "explain", "pod", "monthly-report", "-n", "analytics", "-o", "json", "--request-timeout=30s")
	var explanation diagnosticsv1alpha1.PodExplanation
	if err := json.Unmarshal([]byte(result.Stdout), &explanation); err != nil {
		t.Fatal(err)
	}
	status := explanation.Status
	if status.Origin.Component != "koordctl" || len(status.Incomplete) == 0 {
		t.Errorf("answered by %q, incomplete %q, want koordctl and what is missing", status.Origin.Component, status.Incomplete)
	}
	if status.Verdict != diagnosticsv1alpha1.PodUnschedulable {
		t.Errorf("verdict %s, want Unschedulable", status.Verdict)
	}
}

func TestMalformedConfigurationKeepsTheLastGoodOne(t *testing.T) {
	configMaps := client.CoreV1().ConfigMaps(systemNamespace)
	good, err := configMaps.Get(t.Context(), "slo-controller-config", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { setColocation(context.Background(), t, good.Data["colocation-config"]) })
	// Admission refuses it, but admits everything while the webhook does not respond.
	resume := pause(t, "koord-manager")
	setColocation(t.Context(), t, `{"enable": false, "cpuReclaimThresholdPercent": `)
	resume()

	sandboxtest.Eventually(t, patience, func() error {
		events, err := client.CoreV1().Events(systemNamespace).List(t.Context(), metav1.ListOptions{
			FieldSelector: "involvedObject.name=slo-controller-config,type=" + corev1.EventTypeWarning,
		})
		if err != nil {
			return err
		}
		for _, event := range events.Items {
			if strings.Contains(event.Message, "KOORD0201") {
				return nil
			}
		}
		return fmt.Errorf("none of %d warnings has code KOORD0201", len(events.Items))
	})
	explanation := answer[diagnosticsv1alpha1.NodeExplanation](t, "NodeExplanation", "explain", "node", "sim-0001", "batch-cpu")
	if got := explanation.Status.Waterfalls[0]; got.Policy == "disabled" || got.Result == 0 {
		t.Errorf("policy %s with result %d: half of the bad configuration is in force", got.Policy, got.Result)
	}
	var codes []string
	for _, found := range explanation.Status.Findings {
		codes = append(codes, found.Code)
	}
	if !strings.Contains(strings.Join(codes, " "), "KOORD0201") {
		t.Errorf("findings %v, want KOORD0201 among them", codes)
	}
}

func setColocation(ctx context.Context, t *testing.T, text string) {
	t.Helper()
	patch, err := json.Marshal(map[string]any{"data": map[string]string{"colocation-config": text}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.CoreV1().ConfigMaps(systemNamespace).Patch(ctx, "slo-controller-config", types.MergePatchType, patch, metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

func TestAbsurdMeasurementsWithdrawBatchResources(t *testing.T) {
	reports := map[string]string{"sim-0004": "negative", "sim-0005": "absurd", "sim-0006": "future"}
	for node, report := range reports { // all at once, as each takes a report and a reconciliation to show
		annotate(t.Context(), t, node, "simulation.koordinator.sh/report", report)
		t.Cleanup(func() { annotate(context.Background(), t, node, "simulation.koordinator.sh/report", "") })
	}
	for node, report := range reports {
		t.Run(report, func(t *testing.T) {
			sandboxtest.Eventually(t, patience, func() error { return withdrawn(t, node) })
		})
	}
}

// withdrawn checks that a node with measurements that cannot be true offers no batch resources.
func withdrawn(t *testing.T, node string) error {
	t.Helper()
	status := answer[diagnosticsv1alpha1.NodeExplanation](t, "NodeExplanation", "explain", "node", node, "batch-cpu").Status
	if status.Metric.State != diagnosticsv1alpha1.MetricInvalid {
		return fmt.Errorf("metric is %s, want %s", status.Metric.State, diagnosticsv1alpha1.MetricInvalid)
	}
	if status.Waterfalls[0].Result != 0 {
		return fmt.Errorf("batch-cpu %d, want 0", status.Waterfalls[0].Result)
	}
	object, err := client.CoreV1().Nodes().Get(t.Context(), node, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if quantity, offered := object.Status.Allocatable["kubernetes.io/batch-cpu"]; offered && !quantity.IsZero() {
		return errors.New("node.status still offers " + quantity.String())
	}
	return nil
}

func annotate(ctx context.Context, t *testing.T, node, key, value string) {
	t.Helper()
	patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, key, value)
	if value == "" {
		patch = fmt.Sprintf(`{"metadata":{"annotations":{%q:null}}}`, key)
	}
	_, err := client.CoreV1().Nodes().Patch(ctx, node, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

func TestForeignNodesAreLeftAlone(t *testing.T) {
	foreign := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "foreign"}}
	if _, err := client.CoreV1().Nodes().Create(t.Context(), foreign, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.CoreV1().Nodes().Delete(context.Background(), "foreign", metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	// A simulated node is ready well within the time that other nodes' heartbeats take to show.
	sandboxtest.Eventually(t, patience, func() error {
		metric := componentOf(t, "kwok")
		if metric.Phase != control.Running {
			return fmt.Errorf("kwok is %s", metric.Phase)
		}
		node, err := client.CoreV1().Nodes().Get(t.Context(), "foreign", metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, condition := range node.Status.Conditions {
			if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
				t.Fatal("the sandbox made a foreign node ready")
			}
		}
		return nil
	})
}

func TestAnotherSandboxIsIndependentAndLeavesNothing(t *testing.T) {
	home, err := os.MkdirTemp("", "koord-bare-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	bare, err := sandboxtest.New("bare", home)
	if err != nil {
		t.Fatal(err)
	}
	up := func() {
		t.Helper()
		if err := bare.Up(t.Context(), "--kubernetes-only", "--nodes", "0"); err != nil {
			t.Fatal(err)
		}
	}
	up()
	bareClient, _, err := bare.Clients()
	if err != nil {
		t.Fatal(err)
	}
	marker := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "marker", Namespace: "default"}}
	if _, err := bareClient.CoreV1().ConfigMaps("default").Create(t.Context(), marker, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	processes := readProcesses(t, bare)
	killSupervisor(t, processes)
	if result, err := bare.Koordctl(t.Context(), "sandbox", "down", "--name", "bare"); err != nil || result.Code != 0 {
		t.Fatalf("down after a crash of the supervisor: %v\n%s%s", err, result.Stdout, result.Stderr)
	}
	for _, p := range processes {
		if syscall.Kill(p.PID, 0) == nil && !zombie(p.PID) {
			t.Errorf("%s (pid %d) is left", p.Component, p.PID)
		}
	}
	if _, err := os.Stat(control.SocketPath(state.At(bare.Directory()))); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket is left: %v", err)
	}
	up()
	if _, err := bareClient.CoreV1().ConfigMaps("default").Get(t.Context(), "marker", metav1.GetOptions{}); err != nil {
		t.Errorf("data did not survive down and up: %v", err)
	}
	if err := bare.Down(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(bare.Directory()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("data is left after --purge: %v", err)
	}
}

func readProcesses(t *testing.T, s *sandboxtest.Sandbox) []state.Process {
	t.Helper()
	processes, err := state.At(s.Directory()).ReadProcesses()
	if err != nil || len(processes) < 4 {
		t.Fatalf("want the supervisor and three components, got %d: %v", len(processes), err)
	}
	return processes
}

func killSupervisor(t *testing.T, processes []state.Process) {
	t.Helper()
	for _, p := range processes {
		if p.Component == "supervisor" {
			if err := syscall.Kill(p.PID, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// zombie reports whether a process has ended and only waits for its parent to take notice.
func zombie(pid int) bool {
	data, err := os.ReadFile(filepath.Join("/proc", fmt.Sprint(pid), "stat"))
	return err == nil && strings.Contains(string(data), ") Z ")
}
