// Package integration checks the system as a whole on a sandbox: a real API server, the real scheduler and manager, and
// simulated koordlets.
package integration

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"koordinator.sh/koord/test/sandboxtest"
)

// patience bounds waits for what is to come soon. It is far below the five minutes after which the scheduler tries pods again
// that no event woke, and far above what a machine under load needs.
const patience = time.Minute

// nodes of the shared sandbox: enough for the hot node and the stale one.
const nodes = 14

// The sandbox that the tests share. Tests that break something repair it, or start another one.
var (
	shared        *sandboxtest.Sandbox
	client        kubernetes.Interface
	dynamicClient dynamic.Interface
)

func TestMain(m *testing.M) {
	flag.Parse()
	if namesNone() {
		if err := runHalves(os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "error:", err)
			os.Exit(1)
		}
		return
	}
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	home, err := os.MkdirTemp("", "koord-it-")
	if err != nil {
		return 1, err
	}
	defer func() { _ = os.RemoveAll(home) }() // a temporary directory
	shared, err = sandboxtest.New("it", home)
	if err != nil {
		return 1, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	if err := shared.Up(ctx, "--nodes", fmt.Sprint(nodes)); err != nil {
		return 1, err
	}
	defer func() {
		if downErr := shared.Down(context.Background()); downErr != nil && err == nil {
			code, err = 1, downErr
		}
	}()
	if client, dynamicClient, err = shared.Clients(); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

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

// kubectl runs stock kubectl against the shared sandbox.
func kubectl(t *testing.T, stdin string, args ...string) sandboxtest.Result {
	t.Helper()
	path, err := exec.LookPath("kubectl")
	if err != nil {
		t.Skip("kubectl is not installed")
	}
	result, err := shared.Run(t.Context(), stdin, path, args...)
	if err != nil {
		t.Fatal(err)
	}
	return result
}
