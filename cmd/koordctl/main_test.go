package main

import (
	"errors"
	"io"
	"os"
	"testing"

	"k8s.io/klog/v2"
)

// TestLogsOfLibrariesStayOffTheTerminal runs a command first, which is what silences them.
func TestLogsOfLibrariesStayOffTheTerminal(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	args, stdout, stderr := os.Args, os.Stdout, os.Stderr
	os.Args, os.Stdout, os.Stderr = []string{"koordctl", "version", "--client"}, write, write
	defer func() { os.Args, os.Stdout, os.Stderr = args, stdout, stderr }()
	if code := run(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	os.Stdout = stdout
	read, write, err = os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	os.Stderr = write
	klog.ErrorS(errors.New("context canceled"), "Unexpected error when reading response body")
	klog.Errorf("the same %s", "unstructured")
	klog.Background().Error(errors.New("context canceled"), "and by a logger")
	klog.Flush()
	if err := write.Close(); err != nil {
		t.Fatal(err)
	}
	if leaked, err := io.ReadAll(read); err != nil || len(leaked) > 0 {
		t.Errorf("on stderr: %q, error %v", leaked, err)
	}
}
