package policy

import (
	"flag"
	"os"
	"testing"
)

// TestMain draws fewer cases than usual unless -rapid.checks is set: compiling a policy takes half a second.
func TestMain(m *testing.M) {
	flag.Parse()
	if checks := flag.Lookup("rapid.checks"); checks != nil && checks.Value.String() == checks.DefValue {
		if err := checks.Value.Set("12"); err != nil {
			os.Exit(2)
		}
	}
	os.Exit(m.Run())
}
