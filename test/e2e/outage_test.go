//go:build e2e

package e2e

import (
	"encoding/json"
	"path/filepath"
	"syscall"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"koordinator.sh/koord/test/sandboxtest"
)

// component returns the process id of one of the sandbox's components.
func component(t *testing.T, name string) int {
	t.Helper()
	var status struct {
		Components []struct {
			Name string `json:"name"`
			PID  int    `json:"pid"`
		} `json:"components"`
	}
	result := koordctl(t, 0, "sandbox", "status", "--name", shared.Name, "-o", "json")
	if err := json.Unmarshal([]byte(result.Stdout), &status); err != nil {
		t.Fatal(err)
	}
	for _, c := range status.Components {
		if c.Name == name && c.PID > 1 {
			return c.PID
		}
	}
	t.Fatalf("no process of %s in %s", name, result.Stdout)
	return 0
}

func TestAnAPIServerThatHangs(t *testing.T) {
	term := startTUI(t, 120, 40)
	pid := component(t, "kube-apiserver")
	sandboxtest.Pause(t, pid)
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGCONT) }) // going on twice is harmless
	term.sees("stale,", "sim-0001")
	term.sees("data of", "the API server cannot be reached", "KOORD0001", "sim-0001")
	term.presses("j")
	term.sees("▌sim-0002")
	term.presses("?")
	term.sees("─ help")
	term.presses("?")
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	term.seesNot("stale,", "cannot be reached")
	term.sees("▌sim-0002", "nodes[14]")
	settled(t)
	term.presses("q")
	term.sees("exit code 0")
}

func TestAnAPIServerThatDies(t *testing.T) {
	term := startTUI(t, 120, 40)
	before := component(t, "kube-apiserver")
	if err := syscall.Kill(before, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	// The supervisor may be faster than the interface asks: whether it shows the gap depends on the moment.
	settled(t)
	if after := component(t, "kube-apiserver"); after == before {
		t.Errorf("kube-apiserver still has process id %d", before)
	}
	term.seesNot("data of", "stale,")
	term.sees("nodes[14]", "sim-0001")
	term.presses("q")
	term.sees("exit code 0")
}

func TestAnAPIServerThatNeverWasThere(t *testing.T) {
	term := open(t, 80, 24)
	term.types(`"$koordctl" tui --kubeconfig ` + unreachable(t) + `; echo "exit code $?"`)
	term.sees("error:", "hint:", "127.0.0.1:1")
	term.presses("q")
	term.sees("exit code 0")
}

// unreachable writes a kubeconfig of a cluster without a server, and returns its path.
func unreachable(t *testing.T) string {
	t.Helper()
	config := api.NewConfig()
	config.Clusters["gone"] = &api.Cluster{Server: "https://127.0.0.1:1"}
	config.Contexts["gone"] = &api.Context{Cluster: "gone"}
	config.CurrentContext = "gone"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}
