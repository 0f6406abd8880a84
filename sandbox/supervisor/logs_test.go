package supervisor

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/sandbox/process/processtest"
)

func TestTrimLog(t *testing.T) {
	tests := map[string]struct {
		content  string
		want     string
		wantKept string
	}{
		"a short log stays":        {content: "1234567890", want: "1234567890"},
		"a long one starts afresh": {content: "1234567890x", want: "", wantKept: "890x"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "etcd.log")
			out, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
			processtest.Must(t, err)
			defer func() { processtest.Must(t, out.Close()) }()
			_, err = io.WriteString(out, tc.content)
			processtest.Must(t, err)
			processtest.Must(t, trimLog(path, 10, 4))
			if got := readFile(t, path); got != tc.want {
				t.Errorf("log = %q; want %q", got, tc.want)
			}
			if tc.wantKept != "" && readFile(t, path+".1") != tc.wantKept {
				t.Errorf("kept = %q; want %q", readFile(t, path+".1"), tc.wantKept)
			}
			// The component goes on writing through the file it has open.
			_, err = io.WriteString(out, "more")
			processtest.Must(t, err)
			if got := readFile(t, path); got != tc.want+"more" || strings.Contains(got, "\x00") {
				t.Errorf("log after more was written = %q; want %q", got, tc.want+"more")
			}
		})
	}
	if err := trimLog(filepath.Join(t.TempDir(), "missing.log"), 10, 4); err != nil {
		t.Errorf("trimLog() of no log = %v", err)
	}
}

// TestALogThatCannotBeKeptIsEmptied has no room for the end of the log, as on a full disk.
func TestALogThatCannotBeKeptIsEmptied(t *testing.T) {
	path := filepath.Join(t.TempDir(), "etcd.log")
	processtest.Must(t, os.WriteFile(path, []byte("1234567890x"), 0o600))
	processtest.Must(t, os.Mkdir(path+".1", 0o700))
	if err := trimLog(path, 10, 4); err == nil {
		t.Error("trimLog() = nil; want that the end is not kept")
	}
	if got := readFile(t, path); got != "" {
		t.Errorf("log = %q; want it empty", got)
	}
}

func TestLogsOfASandbox(t *testing.T) {
	dir := newDir(t)
	s := &Supervisor{dir: dir}
	s.addRunner(fake("etcd", "stays", ""), nil)
	if diff := cmp.Diff([]string{dir.Log("supervisor"), dir.Log("etcd")}, s.logs()); diff != "" {
		t.Errorf("logs (-want +got):\n%s", diff)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	processtest.Must(t, err)
	return string(data)
}
