package work

import (
	"io"
	"path/filepath"
	"strings"
	"testing"
)

// TestWorkWaitsToBeLetIn and ends with its input.
func TestWorkWaitsToBeLetIn(t *testing.T) {
	for _, w := range []Work{Wait, Hold(1 << 20), ReadFile("work_test.go", 5)} {
		var out strings.Builder
		if err := w.do(strings.NewReader("\n"), &out); err != nil || out.String() != "done\n" {
			t.Errorf("%s: %q, %v", w, out.String(), err)
		}
		out.Reset()
		if err := w.do(strings.NewReader(""), &out); err == nil || out.Len() > 0 {
			t.Errorf("%s was done before it was let in: %q, %v", w, out.String(), err)
		}
	}
	if err := ReadFile(filepath.Join(t.TempDir(), "none"), 1).do(strings.NewReader("\n"), io.Discard); err == nil {
		t.Error("what is not there was read")
	}
}
