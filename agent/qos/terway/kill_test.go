package terway

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"koordinator.sh/koord/agent/audit"
	"koordinator.sh/koord/agent/checkpoint"
	"koordinator.sh/koord/agent/executor"
)

// mortalStore saves so many times; what comes after is lost, as the process is.
type mortalStore struct {
	executor.Store
	left int
}

func (s *mortalStore) Save(data any) error {
	if s.left == 0 {
		return errors.New("killed")
	}
	s.left--
	return s.Store.Save(data)
}

// TestAnAgentThatIsKilledLeavesNothing kills it at each save, and in the middle of writing a file.
func TestAnAgentThatIsKilledLeavesNothing(t *testing.T) {
	for saves := range 3 {
		store, directory := checkpoint.File{Path: filepath.Join(t.TempDir(), "terway.json")}, t.TempDir()
		open := func(store executor.Store) *Reconciler {
			r, err := New(Options{Directory: directory, Originals: store, Audit: audit.NewLog(10), Clock: passive})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		if err := os.WriteFile(filepath.Join(directory, podFile), []byte("{}"), 0o644); err != nil {
			t.Fatal(err)
		}
		killed := open(&mortalStore{store, saves})
		_ = killed.Reconcile(t.Context(), snapshot()) // it may be killed
		_ = killed.Restore(t.Context())               // as above
		if err := os.WriteFile(filepath.Join(directory, nodeFile+besides), []byte("half"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := open(store).Reconcile(t.Context(), snapshot()); err != nil {
			t.Fatal(err)
		}
		if err := open(store).Restore(t.Context()); err != nil {
			t.Fatal(err)
		}
		entries, err := os.ReadDir(directory)
		if err != nil {
			t.Fatal(err)
		}
		if node, pods := contents(t, directory); len(entries) != 1 || node != "" || pods != "{}" {
			t.Errorf("killed at save %d: %v are left, %q and %q", saves, entries, node, pods)
		}
	}
}
