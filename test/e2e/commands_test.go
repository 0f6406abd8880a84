//go:build e2e

package e2e

import (
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

func TestEveryCommandAnswers(t *testing.T) {
	sandboxtest.Eventually(t, time.Minute, func() error {
		if row := line(koordctl(t, 0, "top", "nodes").Stdout, "sim-0007"); !strings.Contains(row, "Hot") {
			return fmt.Errorf("sim-0007 is not hot: %q", row)
		}
		return nil
	})
	tests := map[string]struct {
		args []string
		want []string
	}{
		"top nodes":           {[]string{"top", "nodes"}, []string{"NAME", "sim-0007", "Hot", "sim-0013", "Expired"}},
		"top pods":            {[]string{"top", "pods", "-A"}, []string{"spark-pi-driver", "koord-batch", "LSR"}},
		"explain node":        {[]string{"explain", "node", "sim-0001", "batch-cpu"}, []string{"capacity", "margin", "node.status"}},
		"explain pod":         {[]string{"explain", "pod", "-n", "analytics", "monthly-report"}, []string{"Unschedulable", "lack batch-cpu", "NodeResourcesFit"}},
		"explain a bound pod": {[]string{"explain", "pod", "-n", "analytics", "spark-pi-driver"}, []string{"Bound"}},
		"status":              {[]string{"status"}, []string{"release/koordinator", "koord-manager", "koord-scheduler", "Ready"}},
		"install":             {[]string{"install", "--dry-run"}, nil},
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

func TestWrongArguments(t *testing.T) {
	tests := map[string]struct {
		args      []string
		wantCode  int
		wantError string
	}{
		"top nodes, unknown node":          {[]string{"top", "nodes", "nope"}, 1, `node "nope" not found`},
		"top nodes, unknown order":         {[]string{"top", "nodes", "--sort-by=colour"}, 2, `--sort-by "colour"`},
		"top pods, unknown format":         {[]string{"top", "pods", "-o", "svg"}, 2, `output format "svg"`},
		"explain node, no name":            {[]string{"explain", "node"}, 2, "name is required"},
		"explain node, unknown resource":   {[]string{"explain", "node", "sim-0001", "batch-gpu"}, 2, `resource "batch-gpu"`},
		"explain pod, unknown pod":         {[]string{"explain", "pod", "nope"}, 1, `pod "nope" not found in namespace "default"`},
		"status, an argument":              {[]string{"status", "everything"}, 2, `"everything"`},
		"install, unknown flag":            {[]string{"install", "--nope"}, 2, "unknown flag: --nope"},
		"uninstall, unknown release":       {[]string{"uninstall", "--release-name", "nope", "--yes"}, 1, `release "nope" not found`},
		"codes, unknown code":              {[]string{"codes", "KOORD9999"}, 1, `code "KOORD9999" does not exist`},
		"why, no code":                     {[]string{"why", "nope"}, 2, `code "nope"`},
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
