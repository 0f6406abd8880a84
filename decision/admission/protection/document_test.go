package protection

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table into docs/security.md instead of comparing")

// TestTheDocumentHasTheTable of all protections.
func TestTheDocumentHasTheTable(t *testing.T) {
	const path, begin = "../../../docs/security.md", "| object | managed by | without it | disabled by |\n"
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(content), begin)
	if !found {
		t.Fatalf("%s has no table of the protections", path)
	}
	table, after, _ := strings.Cut(rest, "\n\n")
	if *update {
		if err := os.WriteFile(path, []byte(before+Document()+"\n"+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if begin+table+"\n" != Document() {
		t.Errorf("the table in %s is not that of the code: run with -update", path)
	}
}
