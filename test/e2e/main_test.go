//go:build e2e

// Package e2e drives the programs as a newcomer does: commands, pipes, and the terminal interface in a real terminal.
package e2e

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"koordinator.sh/koord/test/sandboxtest"
)

// nodes of the shared sandbox: enough for the hot node and the stale one.
const nodes = 14

var (
	// shared is the sandbox of all tests. A test that breaks something repairs it.
	shared   *sandboxtest.Sandbox
	emulator *tmux
)

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	if emulator, err = startTmux(); err != nil {
		return 1, err
	}
	defer emulator.stop()
	home, err := os.MkdirTemp("", "koord-e2e-")
	if err != nil {
		return 1, err
	}
	defer func() { _ = os.RemoveAll(home) }() // a temporary directory
	if shared, err = sandboxtest.New("e2e", home); err != nil {
		return 1, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	defer func() {
		if downErr := shared.Down(context.Background()); downErr != nil && err == nil {
			code, err = 1, downErr
		}
	}()
	if err := shared.Up(ctx, "--nodes", fmt.Sprint(nodes)); err != nil {
		return 1, err
	}
	return m.Run(), nil
}
