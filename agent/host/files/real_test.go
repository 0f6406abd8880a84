package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func newTree(t *testing.T) (*Real, string) {
	t.Helper()
	outside := t.TempDir()
	root := filepath.Join(outside, "root")
	for path, content := range map[string]string{"a/value": "old\n", "a/b/empty": "", "a/large": strings.Repeat("x", 3*smallest)} {
		at := filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(outside, "secret"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(outside, "secret"), filepath.Join(root, "a", "link")); err != nil {
		t.Fatal(err)
	}
	tree, err := NewReal(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tree.Close() })
	return tree, root
}

func TestFilesAreReadAndWritten(t *testing.T) {
	tree, root := newTree(t)
	held, err := tree.Open("a/value")
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if err := tree.Write("a/value", "new"); err != nil {
		t.Fatal(err)
	}
	for name, read := range map[string]func([]byte) ([]byte, error){
		"once": func(b []byte) ([]byte, error) { return tree.Read("a/value", b) }, "again": held.Read,
	} {
		for _, buffer := range [][]byte{nil, make([]byte, 1), make([]byte, 100)} {
			if content, err := read(buffer); err != nil || string(content) != "new" {
				t.Errorf("read %s with room for %d: %q, %v", name, len(buffer), content, err)
			}
		}
	}
	if content, err := tree.Read("a/large", nil); err != nil || len(content) != 3*smallest {
		t.Errorf("read %d bytes, %v", len(content), err)
	}
	large, err := tree.Open("a/large")
	if err != nil {
		t.Fatal(err)
	}
	defer large.Close()
	if content, err := large.Read(nil); err != nil || len(content) != 3*smallest {
		t.Errorf("read %d bytes, %v", len(content), err)
	}
	if names, err := tree.Directories("a"); err != nil || len(names) != 1 || names[0] != "b" {
		t.Errorf("directories %v, %v", names, err)
	}
	if !tree.Exists("a/b") || tree.Exists("a/c") {
		t.Error("what is there is not, or what is not is")
	}
	if err := tree.Write("a/none", "x"); !IsGone(err) {
		t.Errorf("writing what is not there: %v", err)
	}
	if _, err := os.Stat(filepath.Join(root, "a", "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("writing made a file")
	}
}

// TestWhatIsClosedIsNotReadAnyMore nor whatever got its descriptor since.
func TestWhatIsClosedIsNotReadAnyMore(t *testing.T) {
	tree, _ := newTree(t)
	file, err := tree.Open("a/value")
	if err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	other, err := tree.Open("a/large")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if content, err := file.Read(nil); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("read %d bytes, %v, of a file that was closed", len(content), err)
	}
	if err := file.Close(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("closed again: %v", err)
	}
	if content, err := other.Read(nil); err != nil || len(content) != 3*smallest {
		t.Errorf("read %d bytes, %v, of the other file", len(content), err)
	}
}

// TestDirectoriesAreCounted without listing them, and without memory.
func TestDirectoriesAreCounted(t *testing.T) {
	tree, root := newTree(t)
	directory, err := tree.OpenDirectory("a")
	if err != nil {
		t.Fatal(err)
	}
	defer directory.Close()
	before, err := directory.Links()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(root, "a", "c"), 0o755); err != nil {
		t.Fatal(err)
	}
	if after, err := directory.Links(); err != nil || after != before+1 && before > 1 { // some file systems count none
		t.Errorf("%d links, %v, and %d before there was one directory more", after, err, before)
	}
	if allocations := testing.AllocsPerRun(10, func() { _, _ = directory.Links() }); allocations > 0 {
		t.Errorf("counting allocates %g times", allocations)
	}
	if _, err := tree.OpenDirectory("../root/.."); err == nil {
		t.Error("a path led out of the tree")
	}
}

func TestNoPathLeadsOutOfTheTree(t *testing.T) {
	tree, _ := newTree(t)
	for _, path := range []string{"../secret", "a/../../secret", "/etc/passwd", "a/link"} {
		if file, err := tree.Open(path); err == nil {
			_ = file.Close()
			t.Errorf("%s was opened", path)
		}
		if content, err := tree.Read(path, nil); err == nil {
			t.Errorf("%s reads %q", path, content)
		}
		if err := tree.Write(path, "x"); err == nil {
			t.Errorf("%s was written", path)
		}
		if tree.Exists(path) {
			t.Errorf("%s is told to exist", path)
		}
	}
}

// TestAFileThatTakesNothingMoreIsNotWaitedFor writes into a full pipe without a reader: the kernel answers as it does for
// memory.reclaim when there is less to reclaim than was asked for.
func TestAFileThatTakesNothingMoreIsNotWaitedFor(t *testing.T) {
	tree, root := newTree(t)
	path := filepath.Join(root, "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	reader, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	answer := make(chan error, 1)
	go func() {
		var err error
		for err == nil {
			err = tree.Write("pipe", strings.Repeat("x", smallest))
		}
		answer <- err
	}()
	select {
	case err := <-answer:
		if !errors.Is(err, syscall.EAGAIN) {
			t.Errorf("error %v, want that the file takes nothing more", err)
		}
	case <-time.After(10 * time.Second):
		_ = reader.Close() // ends the writer
		t.Fatal("the write waits for somebody to read")
	}
}
