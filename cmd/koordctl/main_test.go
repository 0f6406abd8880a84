package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
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

// initialized is a line of the runtime about a package of this module: what was allocated before main.
var initialized = regexp.MustCompile(`(?m)^init (koordinator\.sh/koord/\S+) @.*, (\d+) bytes, \d+ allocs$`)

// TestStartingIsLeftToWhatIsAskedFor: most commands are done before a table of the catalogue, say, could be read.
func TestStartingIsLeftToWhatIsAskedFor(t *testing.T) {
	const most = 64 << 10 // bytes, of each package
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	output, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	found := initialized.FindAllSubmatch(output, -1)
	if len(found) == 0 {
		t.Fatalf("the runtime says nothing of the packages:\n%s", output)
	}
	for _, line := range found {
		if bytes, err := strconv.Atoi(string(line[2])); err != nil || bytes > most {
			t.Errorf("%s allocates %d bytes before main, want at most %d (error %v)", line[1], bytes, most, err)
		}
	}
}
