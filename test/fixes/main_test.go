package fixes

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"

	"koordinator.sh/koord/test/sandboxtest"
)

// patience bounds waits. It is far below the five minutes after which the scheduler tries pods again that no event woke.
const patience = time.Minute

// nodes of the sandbox: two kinds of them, so that a change for one node is distinguished from one for all.
const nodes = "3"

var (
	shared *sandboxtest.Sandbox
	client kubernetes.Interface
	// tools is a directory with a kubectl.
	tools string
	// background outlives a test, for what it leaves behind.
	background = context.Background()
)

func TestMain(m *testing.M) {
	if os.Getenv(asKubectl) != "" {
		os.Exit(runKubectl())
	}
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	home, err := os.MkdirTemp("", "koord-fx-")
	if err != nil {
		return 1, err
	}
	defer func() { _ = os.RemoveAll(home) }() // a temporary directory
	tools = home
	if err := installKubectl(home); err != nil {
		return 1, err
	}
	if shared, err = sandboxtest.New("fx", home); err != nil {
		return 1, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	if err := shared.Up(ctx, "--nodes", nodes, "--scenario", "none", "--switch-context"); err != nil {
		return 1, err
	}
	defer func() {
		if downErr := shared.Down(context.Background()); downErr != nil && err == nil {
			code, err = 1, downErr
		}
	}()
	if client, _, err = shared.Clients(); err != nil {
		return 1, err
	}
	return m.Run(), nil
}
