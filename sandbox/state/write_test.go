package state

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// TestWriteFileIsSeenAsAWhole has a reader look at a file while it is replaced by contents of very different size: what it
// sees must be one of them.
func TestWriteFileIsSeenAsAWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	contents := [][]byte{bytes.Repeat([]byte("a"), 1<<20), []byte("short")}
	if err := WriteFile(path, contents[0]); err != nil {
		t.Fatal(err)
	}
	var writer sync.WaitGroup
	finished := make(chan struct{})
	writer.Go(func() {
		defer close(finished)
		for i := range 200 {
			if err := WriteFile(path, contents[(i+1)%2]); err != nil {
				t.Errorf("WriteFile() = %v", err)
			}
		}
	})
	defer writer.Wait()
	for reads := 0; ; reads++ {
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, contents[0]) && !bytes.Equal(got, contents[1]) {
			t.Fatalf("read %d saw %d bytes; want %d or %d", reads, len(got), len(contents[0]), len(contents[1]))
		}
		select {
		case <-finished:
			return
		default:
		}
	}
}

func TestWriteFileIsForTheUserAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(path, []byte("new")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != 0o600 {
		t.Errorf("mode = %o; want 600", got)
	}
}

func TestWriteFileThatFailsLeavesNothing(t *testing.T) {
	tests := map[string]struct {
		prepare func(t *testing.T, dir string) (path string)
	}{
		"the directory is missing": {
			prepare: func(_ *testing.T, dir string) string { return filepath.Join(dir, "missing", "file") },
		},
		"a directory is in the place of the file": {
			prepare: func(t *testing.T, dir string) string {
				path := filepath.Join(dir, "file")
				if err := os.Mkdir(path, 0o700); err != nil {
					t.Fatal(err)
				}
				return path
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := tc.prepare(t, dir)
			before := count(t, dir)
			if err := WriteFile(path, []byte("new")); !says(err, "write file: ") {
				t.Errorf("WriteFile() = %v; want an error that names the file", err)
			}
			if after := count(t, dir); after != before {
				t.Errorf("%d entries are in the directory; want the %d from before", after, before)
			}
		})
	}
}

// TestWriteFileOnAFullDisk writes to a file system that takes names but no contents.
func TestWriteFileOnAFullDisk(t *testing.T) {
	path, limit := smallDisk(t)
	file := filepath.Join(path, "file")
	if err := WriteFile(file, []byte("old")); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(file, make([]byte, limit)); !says(err, "no space left") {
		t.Errorf("WriteFile() = %v; want that no space is left", err)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != "old" {
		t.Errorf("the file holds %d bytes, %v; want what it held before", len(got), err)
	}
	if got := count(t, path); got != 1 {
		t.Errorf("%d entries are in the directory; want the file alone", got)
	}
	if err := Open(path, "demo").ForgetProcesses(); err != nil {
		t.Errorf("ForgetProcesses() = %v; want that it needs no space", err)
	}
}

func count(t *testing.T, dir string) int {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}
