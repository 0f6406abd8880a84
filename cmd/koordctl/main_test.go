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
	args, stdout, stderr := os.Args, os.Stdout, os.Stderr
	defer func() { os.Args, os.Stdout, os.Stderr = args, stdout, stderr }()
	nowhere, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	os.Args, os.Stdout = []string{"koordctl", "version", "--client"}, nowhere
	if code := run(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	os.Stdout, os.Stderr = stdout, write
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
