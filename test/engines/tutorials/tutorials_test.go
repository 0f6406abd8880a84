// Package tutorials runs the tutorials on this machine as a real node, and writes their pages from what was seen.
package tutorials

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"koordinator.sh/koord/kubectl-plugin/tutorial/java"
	"koordinator.sh/koord/sandbox/realnode"
	"koordinator.sh/koord/sandbox/state"
	"koordinator.sh/koord/test/engines"
	"koordinator.sh/koord/test/sandboxtest"
)

var (
	update  = flag.Bool("update", false, "write docs/tutorials from this run")
	measure = flag.Duration("measure", 20*time.Second, "time for which each situation is measured")
)

// pages is where -update writes to.
const pages = "../../../docs/tutorials"

const (
	// startWithin bounds the start of a sandbox.
	startWithin = 5 * time.Minute
	// downWithin is what the tutorial leaves of the time of the test, in which the sandbox is taken down.
	downWithin = 40 * time.Second
)

// TestTutorials runs each as a reader does, on one sandbox. Their steps want that the pods of the engine are batch pods that really run,
// that work is done, and that the node offers less when the service needs more, and more again afterwards. How long requests took is only
// told: other things that run on the machine have their part in it.
func TestTutorials(t *testing.T) {
	engines.Require(t, append(java.Programs, "runc")...)
	sandbox := start(t)
	for name, wants := range map[string][]string{
		"spark": {"words-", "-driver", "-exec-2", "koord-scheduler koord-batch", "kubernetes.io/batch-cpu", "tasks a second", "| with Spark | 150 |"},
		"yarn":  {"availableVirtualCores", "hadoop-yarn", "container_", "Containers of yarn", "BECPUEvict", "SUCCEEDED", "| with YARN | 120 |"},
		"trino": {"trino-worker-", "SHUTTING_DOWN", "elasticWorkers.enabled=true", "thousand rows a second", "| with Trino | 150 |"},
	} {
		t.Run(name, func(t *testing.T) {
			page := run(t, sandbox, name)
			for _, want := range wants {
				if !strings.Contains(page, want) {
					t.Errorf("the page lacks %q:\n%s", want, page)
				}
			}
			if *update && !t.Failed() {
				if err := os.MkdirAll(pages, 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(pages, name+".md"), neutral(t, page), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// run runs a tutorial and returns its page.
func run(t *testing.T, sandbox *sandboxtest.Sandbox, name string) string {
	t.Helper()
	written := filepath.Join(t.TempDir(), name+".md")
	ctx := t.Context()
	if deadline, limited := t.Deadline(); limited {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-downWithin))
		defer cancel()
	}
	result, err := sandbox.Koordctl(ctx, "tutorial", name, "--name", sandbox.Name, "--page", written, "--measure", measure.String())
	if err != nil || result.Code != 0 {
		t.Fatalf("koordctl tutorial %s: %v, exit code %d\n%s\n%s", name, err, result.Code, result.Stdout, result.Stderr)
	}
	t.Log(result.Stdout)
	page, err := os.ReadFile(written)
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// start starts a sandbox with this machine as its only node.
func start(t *testing.T) *sandboxtest.Sandbox {
	t.Helper()
	bin, err := sandboxtest.Bin()
	if err != nil {
		t.Fatal(err)
	}
	home, err := os.MkdirTemp("", "koord-real-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) }) // a temporary directory
	const name = "real"
	hostname, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	if err := realnode.ThisHost().CheckStart(state.Open(home, name), state.Spec{Name: name, RealNode: realnode.NodeName(hostname), Binaries: bin}); err != nil {
		t.Fatal(err)
	}
	// The tutorial uses the kubectl of a reader.
	if _, err := exec.LookPath("kubectl"); err != nil {
		if _, err := os.Stat(filepath.Join(bin, "kubectl")); err != nil {
			t.Fatalf("kubectl is neither on the PATH nor in %s: %v", bin, err)
		}
	}
	sandbox, err := sandboxtest.New(name, home)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sandbox.Down(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), startWithin)
	defer cancel()
	if err := sandbox.Up(ctx, "--real-node", "--nodes", "0"); err != nil {
		t.Fatal(err)
	}
	return sandbox
}

// neutral is a page that does not name this machine, but one whose name is as long, so that columns stay where they are.
func neutral(t *testing.T, content string) []byte {
	t.Helper()
	hostname, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	own := realnode.NodeName(hostname)
	other := "node-" + strings.Repeat("0", max(len(own)-len("node-1"), 0)) + "1"
	if len(own) < len(other) {
		other = "n" + strings.Repeat("0", max(len(own)-len("n1"), 0)) + "1"
	}
	name := regexp.MustCompile(`\b` + regexp.QuoteMeta(own) + `\b`)
	var lines []string
	for line := range strings.Lines(content) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	return name.ReplaceAll([]byte(strings.Join(lines, "\n")+"\n"), []byte(other))
}
