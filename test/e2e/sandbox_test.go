//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"koordinator.sh/koord/sandbox/control"
	"koordinator.sh/koord/test/sandboxtest"
)

// A bare control plane, as the tests of another scheduler use it, started in a terminal: steps that are done stay, the one
// that is waited for is redrawn in place.
func TestSandboxUpInATerminal(t *testing.T) {
	term := open(t, 100, 30)
	t.Cleanup(func() { purge(t, "bare") })
	term.types(`"$koordctl" sandbox up --name bare --kubernetes-only --nodes 0; echo "exit code $?"`)
	waited := false
	sandboxtest.Eventually(t, 2*time.Minute, func() error {
		screen := term.screen(false)
		waits := 0
		for l := range strings.Lines(screen) {
			if strings.HasPrefix(l, "  wait  ") {
				waits++
			}
		}
		if waits > 1 {
			t.Fatalf("%d lines say what is waited for, want one that is redrawn:\n%s", waits, screen)
		}
		waited = waited || waits == 1
		if !strings.Contains(screen, "exit code 0") {
			return fmt.Errorf("the command has not ended:\n%s", screen)
		}
		return nil
	})
	screen := term.sees("sandbox/bare is up (0 nodes")
	if !waited {
		t.Errorf("never saw what is waited for:\n%s", screen)
	}
	if strings.Contains(screen, "  wait  ") {
		t.Errorf("a line of waiting is left over:\n%s", screen)
	}
	if n := strings.Count(screen, "wait for kube-apiserver"); n != 1 {
		t.Errorf("kube-apiserver is mentioned %d times, want once:\n%s", n, screen)
	}
	status := koordctl(t, 0, "sandbox", "status", "--name", "bare")
	if strings.Contains(status.Stdout, "koord-") && strings.Contains(status.Stdout, "koordlets") {
		t.Errorf("components of the system run in a bare control plane:\n%s", status.Stdout)
	}
}

// purge removes another sandbox. It became the current context, and takes it along.
func purge(t *testing.T, name string) {
	t.Helper()
	if _, err := shared.Koordctl(context.Background(), "sandbox", "down", "--name", name, "--purge"); err != nil {
		t.Error(err)
	}
	if err := shared.Up(context.Background(), "--switch-context"); err != nil {
		t.Error(err)
	}
}

// A sandbox that was killed finds all in place that it otherwise waits for, but for who explains.
func TestAKilledSandboxExplainsWhenItIsBack(t *testing.T) {
	t.Cleanup(func() { purge(t, "back") })
	koordctl(t, 0, "sandbox", "up", "--name", "back", "--nodes", "3")
	var status control.Status
	if err := json.Unmarshal([]byte(koordctl(t, 0, "sandbox", "status", "--name", "back", "-o", "json").Stdout), &status); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(status.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	koordctl(t, 0, "sandbox", "up", "--name", "back", "--nodes", "3")
	answer := koordctl(t, 0, "--context", "koord-sandbox-back", "explain", "node", "sim-0001", "batch-cpu")
	if all := answer.Stdout + answer.Stderr; strings.Contains(all, "KOORD0004") {
		t.Errorf("nobody explains right after the start:\n%s", all)
	}
}
