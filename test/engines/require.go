package engines

import (
	"os"
	"os/exec"
	"testing"
)

// Require skips a test where it was not asked for, and fails it where it was and a program is missing.
func Require(t testing.TB, programs ...string) {
	t.Helper()
	if os.Getenv("KOORD_TEST_ENGINES") != "required" {
		t.Skipf("needs %q and downloads; run it with make engines", programs)
	}
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("KOORD_TEST_ENGINES=required: %v", err)
		}
	}
}
