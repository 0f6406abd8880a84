//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"koordinator.sh/koord/test/sandboxtest"
)

// koordctl runs koordctl against the shared sandbox and fails the test when the exit code is not the wanted one.
func koordctl(t *testing.T, wantCode int, args ...string) sandboxtest.Result {
	t.Helper()
	result, err := shared.Koordctl(t.Context(), args...)
	if err != nil {
		t.Fatal(err)
	}
	if result.Code != wantCode {
		t.Fatalf("koordctl %v: exit code %d, want %d\n%s%s", args, result.Code, wantCode, result.Stdout, result.Stderr)
	}
	return result
}

// settled waits until the system answers in full again, after a test that broke it.
func settled(t *testing.T) {
	t.Helper()
	sandboxtest.Eventually(t, 2*time.Minute, func() error {
		result, err := shared.Koordctl(t.Context(), "explain", "pod", "-n", "analytics", "monthly-report", "--strict")
		if err != nil {
			return err
		}
		if result.Code != 0 {
			return fmt.Errorf("exit code %d: %s%s", result.Code, result.Stdout, result.Stderr)
		}
		return nil
	})
}

// burst is a setting that nothing else in the tests looks at.
const burst = "cpu-burst-config.cpuBurstPercent"

// aChange changes the configuration for the time of the test, so that there is a history to look at and to return to, and
// chooses an editor that changes it once more.
func aChange(t *testing.T) {
	t.Helper()
	koordctl(t, 0, "config", "set", burst+"=900", "--yes")
	t.Cleanup(func() {
		if result, err := shared.Koordctl(context.Background(), "config", "rollback", "--yes"); err != nil || result.Code != 0 {
			t.Errorf("roll back: %v\n%s", err, result.Stderr)
		}
	})
	t.Setenv("KUBE_EDITOR", "sed -i s/900/700/")
}

// burstFile is a file with the data of a configuration.
func burstFile(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "slo.yaml")
	if err := os.WriteFile(file, []byte("cpu-burst-config:\n  clusterStrategy:\n    cpuBurstPercent: 600\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestEveryCommandAnswers(t *testing.T) {
	sandboxtest.Eventually(t, time.Minute, func() error {
		if row := line(koordctl(t, 0, "top", "nodes").Stdout, "sim-0007"); !strings.Contains(row, "Hot") {
			return fmt.Errorf("sim-0007 is not hot: %q", row)
		}
		return nil
	})
	aChange(t)
	tests := map[string]struct {
		args []string
		want []string
	}{
		"top nodes":              {[]string{"top", "nodes"}, []string{"NAME", "sim-0007", "Hot", "sim-0013", "Expired"}},
		"top pods":               {[]string{"top", "pods", "-A"}, []string{"spark-pi-driver", "koord-batch", "LSR"}},
		"explain node":           {[]string{"explain", "node", "sim-0001", "batch-cpu"}, []string{"capacity", "margin", "node.status"}},
		"explain node features":  {[]string{"explain", "node", "sim-0001", "features"}, []string{"sim-0001; simulated-koordlet", "BECPUSuppress", "EFFECTIVE"}},
		"explain node suppress":  {[]string{"explain", "node", "sim-0001", "suppress"}, []string{"sim-0001; simulated-koordlet", "Best-effort CPU", "threshold", "budget"}},
		"explain node cpus":      {[]string{"explain", "node", "sim-0001", "cpus"}, []string{"sim-0001; simulated-koordlet", "shared", "bestEffort"}},
		"explain qos pod":        {[]string{"explain", "qos", "pod", "-n", "analytics", "spark-pi-driver"}, []string{"simulated-koordlet", "Pod analytics/spark-pi-driver (BE", "BatchResource", "cpu.shares"}},
		"forecast evictions":     {[]string{"forecast", "evictions", "--node", "sim-0001"}, []string{"sim-0001; simulated-koordlet", "Evictions", "BEMemoryEvict"}},
		"explain pod":            {[]string{"explain", "pod", "-n", "analytics", "monthly-report"}, []string{"Unschedulable", "Insufficient kubernetes.io/batch-cpu", "NodeResourcesFit"}},
		"explain a bound pod":    {[]string{"explain", "pod", "-n", "analytics", "spark-pi-driver"}, []string{"Bound"}},
		"config get":             {[]string{"config", "get", "colocation-config.enable"}, []string{"true"}},
		"config explain":         {[]string{"config", "explain", burst}, []string{"default: 1000"}},
		"config lint":            {[]string{"config", "lint"}, []string{"configmap/slo-controller-config"}},
		"config init":            {[]string{"config", "init", "--full"}, []string{"kind: ConfigMap", "colocation-config"}},
		"config plan":            {[]string{"config", "plan"}, []string{"no change on"}},
		"config diff":            {[]string{"config", "diff", burst + "=900"}, nil},
		"config history":         {[]string{"config", "history"}, []string{"REVISION", "config set " + burst}},
		"config set":             {[]string{"config", "set", burst + "=800", "--dry-run"}, []string{"Settings", "configured (server dry run)"}},
		"config unset":           {[]string{"config", "unset", burst, "--dry-run"}, []string{"configured (server dry run)"}},
		"config apply":           {[]string{"config", "apply", "-f", burstFile(t), "--dry-run"}, []string{"configured (server dry run)"}},
		"config edit":            {[]string{"config", "edit", "--dry-run"}, []string{"configured (server dry run)"}},
		"config rollback":        {[]string{"config", "rollback", "--dry-run"}, []string{"configured (server dry run)"}},
		"predict replay":         {[]string{"predict", "replay", "-f", "../../agent/host/trace/testdata/mixed"}, []string{"PROFILE", "balanced", "aggressive frees most"}},
		"status":                 {[]string{"status"}, []string{"release/koordinator", "koord-manager", "koord-scheduler", "Ready"}},
		"check":                  {[]string{"check"}, []string{"diagnostics-api", "webhook-ca-bundle", "config-valid", "sim-0013", " checks: "}},
		"check before":           {[]string{"check", "--pre"}, []string{"api-server-version", "install-rights", "node-platform"}},
		"install":                {[]string{"install", "--dry-run"}, nil},
		"install, asking nobody": {[]string{"install", "--dry-run=client"}, []string{"deployment.apps/koord-manager created (dry run)", "release/koordinator installed (dry run)"}},
		"install, the names":     {[]string{"install", "--dry-run=client", "-o", "name"}, []string{"daemonset.apps/koordlet\n"}},
		"uninstall, reading only": {[]string{"uninstall", "--dry-run=client"}, []string{
			"lease.coordination.k8s.io/koord-scheduler deleted (dry run)", "kept: ", "release/koordinator uninstalled (dry run)",
		}},
		"why of a pod":        {[]string{"why", "pod/monthly-report", "-n", "analytics", "--skip-fix"}, []string{"Unschedulable", "Insufficient kubernetes.io/batch-cpu"}},
		"explain in one word": {[]string{"explain", "analytics/monthly-report", "-o", "name"}, []string{"pod/monthly-report"}},
		"install --export":    {[]string{"install", "--export"}, []string{"kind: CustomResourceDefinition", "kind: ConfigMap"}},
		"uninstall":           {[]string{"uninstall", "--dry-run"}, nil},
		"codes":               {[]string{"codes"}, []string{"KOORD0001", "KOORD1102"}},
		"why":                 {[]string{"why", "KOORD1102"}, []string{"KOORD1102"}},
		"version":             {[]string{"version", "--client=false"}, []string{"Client Version:", "Server Version: v1.36"}},
		"completion":          {[]string{"completion", "bash"}, []string{"koordctl"}},
		"sandbox up again":    {[]string{"sandbox", "up", "--name", "e2e"}, []string{"sandbox/e2e is already running"}},
		"sandbox status":      {[]string{"sandbox", "status", "--name", "e2e"}, []string{"kube-apiserver", "koordlets", "Running"}},
		"sandbox list":        {[]string{"sandbox", "list"}, []string{"e2e", "koord-sandbox-e2e"}},
		"sandbox logs":        {[]string{"sandbox", "logs", "supervisor", "--name", "e2e"}, nil},
		"sandbox kubeconfig":  {[]string{"sandbox", "kubeconfig", "--name", "e2e"}, []string{"kind: Config", "server: https://127.0.0.1:"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			result := koordctl(t, 0, test.args...)
			for _, want := range test.want {
				if !strings.Contains(result.Stdout, want) {
					t.Errorf("output lacks %q:\n%s", want, result.Stdout)
				}
			}
			if strings.Contains(result.Stdout+result.Stderr, "\x1b") {
				t.Errorf("piped output has escape sequences:\n%q", result.Stdout)
			}
		})
	}
}

// TestASimulatedAgentHasNoAuditLog: it does nothing to a node, and its answer leads to one that does.
func TestASimulatedAgentHasNoAuditLog(t *testing.T) {
	for _, args := range [][]string{{"audit", "node", "sim-0001"}, {"audit", "node", "sim-0001", "-f"}} {
		result := koordctl(t, 1, args...)
		for _, want := range []string{`error: read the audit log of node "sim-0001": `, "the node is simulated", "\nhint: koordctl sandbox up --real-node", "KOORD0009"} {
			if !strings.Contains(result.Stderr, want) {
				t.Errorf("koordctl %v: standard error lacks %q:\n%s", args, want, result.Stderr)
			}
		}
		if result.Stdout != "" {
			t.Errorf("koordctl %v printed:\n%s", args, result.Stdout)
		}
	}
}

func TestWrongArguments(t *testing.T) {
	tests := map[string]struct {
		args      []string
		wantCode  int
		wantError string
	}{
		"top nodes, unknown node":          {[]string{"top", "nodes", "nope"}, 1, `node "nope" not found`},
		"top nodes, unknown order":         {[]string{"top", "nodes", "--sort-by=colour"}, 2, `--sort-by "colour"`},
		"top pods, unknown field":          {[]string{"top", "pods", "-A", "--field-selector=spec.colour=red"}, 2, "field label not supported"},
		"config apply, no such file":       {[]string{"config", "apply", "-f", "/nope.yaml"}, 1, "/nope.yaml"},
		"config get, unknown field":        {[]string{"config", "get", "colocation-config.colour"}, 2, `no field "colour"`},
		"install, no such values":          {[]string{"install", "-f", "/nope.yaml"}, 1, "/nope.yaml"},
		"install, unknown dry run":         {[]string{"install", "--dry-run=maybe"}, 2, `--dry-run "maybe"`},
		"status, an unknown context":       {[]string{"--context", "nope", "status"}, 1, `context was not found for specified context: nope`},
		"audit, unknown node":              {[]string{"audit", "nope"}, 1, `node "nope" not found`},
		"why, a type alone":                {[]string{"why", "pod"}, 2, "must be a code"},
		"top pods, unknown format":         {[]string{"top", "pods", "-o", "svg"}, 2, `output format "svg"`},
		"explain node, no name":            {[]string{"explain", "node"}, 2, "name is required"},
		"explain node, unknown resource":   {[]string{"explain", "node", "sim-0001", "batch-gpu"}, 2, `resource "batch-gpu"`},
		"explain pod, unknown pod":         {[]string{"explain", "pod", "nope"}, 1, `pod "nope" not found in namespace "default"`},
		"config set, unknown key":          {[]string{"config", "set", "foo.bar=1"}, 2, `unknown key "foo"`},
		"config set, nobody to ask":        {[]string{"config", "set", burst + "=800"}, 2, "there is no prompt"},
		"config get, unknown key":          {[]string{"config", "get", "colocation.enable"}, 2, `unknown key "colocation"`},
		"config rollback, no revision":     {[]string{"config", "rollback", "--to", "999", "--yes"}, 1, "revision 999 not found"},
		"config apply, no file":            {[]string{"config", "apply"}, 2, "must specify --filename"},
		"predict replay, no such trace":    {[]string{"predict", "replay", "-f", "/nope.csv"}, 1, "/nope.csv"},
		"status, an argument":              {[]string{"status", "everything"}, 2, `"everything"`},
		"install, unknown flag":            {[]string{"install", "--nope"}, 2, "unknown flag: --nope"},
		"uninstall, unknown release":       {[]string{"uninstall", "--release-name", "nope", "--yes"}, 1, `release "nope" not found`},
		"codes, unknown code":              {[]string{"codes", "KOORD9999"}, 1, `code "KOORD9999" not found`},
		"why, no code":                     {[]string{"why", "NOPE"}, 2, `code "NOPE"`},
		"why, a name that no object has":   {[]string{"why", "nope"}, 1, `is named "nope"`},
		"version, an argument":             {[]string{"version", "two"}, 2, `"two"`},
		"tui, an argument":                 {[]string{"tui", "fast"}, 2, `"fast"`},
		"tui, no terminal":                 {[]string{"tui"}, 1, "must be a terminal"},
		"sandbox up, too many nodes":       {[]string{"sandbox", "up", "--nodes", "5001"}, 2, "nodes 5001"},
		"sandbox up, no such trace":        {[]string{"sandbox", "up", "--name", "t", "--trace", "/nope.csv"}, 1, "/nope.csv"},
		"sandbox status, unknown sandbox":  {[]string{"sandbox", "status", "--name", "nope"}, 1, `sandbox "nope" does not exist`},
		"sandbox logs, unknown component":  {[]string{"sandbox", "logs", "nope", "--name", "e2e"}, 2, `no log of "nope"`},
		"sandbox kubeconfig, wrong name":   {[]string{"sandbox", "kubeconfig", "--name", "nope"}, 1, `sandbox "nope" does not exist`},
		"sandbox down, unknown sandbox":    {[]string{"sandbox", "down", "--name", "nope"}, 1, `sandbox "nope" does not exist`},
		"sandbox list, an argument":        {[]string{"sandbox", "list", "extra"}, 2, `"extra"`},
		"an unknown command":               {[]string{"frob"}, 2, `unknown command "frob"`},
		"an unknown context":               {[]string{"--context", "nope", "top", "nodes"}, 1, `context "nope" does not exist`},
		"an unknown choice of colour":      {[]string{"--color", "pink", "top", "nodes"}, 2, `--color "pink"`},
		"a cluster that cannot be reached": {[]string{"--kubeconfig", unreachable(t), "top", "nodes"}, 1, "127.0.0.1:1"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			result := koordctl(t, test.wantCode, test.args...)
			if result.Stdout != "" {
				t.Errorf("a refusal printed to standard output:\n%s", result.Stdout)
			}
			if first, _, _ := strings.Cut(result.Stderr, "\n"); !strings.HasPrefix(first, "error: ") || !strings.Contains(first, test.wantError) {
				t.Errorf("first line of standard error is %q, want error: … %s", first, test.wantError)
			}
			if !strings.Contains(result.Stderr, "\nhint: ") {
				t.Errorf("no hint in:\n%s", result.Stderr)
			}
		})
	}
}

func TestPipedOutput(t *testing.T) {
	sh := func(script string) sandboxtest.Result {
		t.Helper()
		result, err := shared.Run(t.Context(), "", "/bin/bash", "-o", "pipefail", "-c", strings.ReplaceAll(script, "koordctl", shared.Program("koordctl")))
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	got := sh("koordctl top nodes | head -1")
	if want := "NAME"; !strings.HasPrefix(got.Stdout, want) || strings.Count(got.Stdout, "\n") != 1 || strings.Contains(got.Stderr, "error") {
		t.Errorf("top nodes | head -1 printed %q and %q, want one line that begins with %s and no error", got.Stdout, got.Stderr, want)
	}
	got = sh("koordctl top pods -A --no-headers -o name | sort | head -1")
	if got.Stderr != "" || strings.TrimSpace(got.Stdout) == "" {
		t.Errorf("top pods -o name printed %q and %q", got.Stdout, got.Stderr)
	}
	got = sh("koordctl tui | cat")
	if got.Code != 1 || got.Stdout != "" || !strings.Contains(got.Stderr, "hint: ") || !strings.Contains(got.Stderr, "top nodes") {
		t.Errorf("tui | cat: exit code %d, %q, %q; want 1 and a hint at top nodes", got.Code, got.Stdout, got.Stderr)
	}
}

func TestCalledAsAPluginOfKubectl(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(shared.Program("koordctl"), filepath.Join(dir, "kubectl-koord")); err != nil {
		t.Fatal(err)
	}
	result, err := shared.Run(t.Context(), "", filepath.Join(dir, "kubectl-koord"), "explain", "pod", "nope")
	if err != nil {
		t.Fatal(err)
	}
	if result.Code != 1 || !strings.Contains(result.Stderr, "hint: kubectl koord top pods") {
		t.Errorf("exit code %d:\n%s\nwant 1 and a hint that names kubectl koord", result.Code, result.Stderr)
	}
}
