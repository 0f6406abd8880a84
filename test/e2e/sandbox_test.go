//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"koordinator.sh/koord/test/sandboxtest"
)

// A bare control plane, as the tests of another scheduler use it, started in a terminal: steps that are done stay, the one
// that is waited for is redrawn in place.
func TestSandboxUpInATerminal(t *testing.T) {
	term := open(t, 100, 30)
	t.Cleanup(func() {
		if _, err := shared.Koordctl(context.Background(), "sandbox", "down", "--name", "bare", "--purge"); err != nil {
			t.Error(err)
		}
		// The bare sandbox became the current context, and took it along.
		if err := shared.Up(context.Background(), "--switch-context"); err != nil {
			t.Error(err)
		}
	})
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
