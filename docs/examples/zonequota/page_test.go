package zonequota

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const page = "../../plugin-development.md"

// TestThePageQuotesThisPackage compares every Go block of the page with the files that are compiled and tested here.
func TestThePageQuotesThisPackage(t *testing.T) {
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var source strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		source.Write(text)
	}
	blocks := strings.Split(string(content), "\n```go\n")[1:]
	if len(blocks) < 5 {
		t.Errorf("the page has %d Go blocks, want at least 5", len(blocks))
	}
	for _, block := range blocks {
		quoted, _, closed := strings.Cut(block, "\n```")
		if !closed || !strings.Contains(source.String(), quoted+"\n") {
			t.Errorf("this block of the page is in no file of the example:\n%s", quoted)
		}
	}
}
