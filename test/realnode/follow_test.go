package realnode

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"koordinator.sh/koord/test/sandboxtest"
)

// following is a koordctl that follows the audit log.
type following struct {
	command *exec.Cmd
	mu      sync.Mutex
	printed bytes.Buffer
}

// Write implements io.Writer.
func (f *following) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.printed.Write(p)
}

// follow the audit log from its latest entry.
func (r *rig) follow(t *testing.T) *following {
	t.Helper()
	f := &following{command: exec.CommandContext(t.Context(), r.Program("koordctl"), "audit", "node", r.node, "-f", "--tail", "1")}
	f.command.Env, f.command.Stdout, f.command.Stderr = r.Environ(), f, f
	if err := f.command.Start(); err != nil {
		t.Fatal(err)
	}
	f.await(t, "TIME")
	return f
}

// await waits until a line of the log has some words.
func (f *following) await(t *testing.T, words ...string) {
	t.Helper()
	sandboxtest.Eventually(t, patience, func() error {
		f.mu.Lock()
		defer f.mu.Unlock()
		for line := range strings.Lines(f.printed.String()) {
			if !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(line, word) }) {
				return nil
			}
		}
		return fmt.Errorf("no line with %q in:\n%s", words, f.printed.String())
	})
}

// interrupt ends it as a user does, which is no failure.
func (f *following) interrupt(t *testing.T) {
	t.Helper()
	if err := f.command.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := f.command.Wait(); err != nil {
		t.Errorf("koordctl audit node -f, interrupted: %v\n%s", err, f.printed.String())
	}
}
