package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestThePageIsCurrent(t *testing.T) {
	got, err := os.ReadFile("../../docs/schema.md")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(page(definitions()), "\n"), strings.Split(string(got), "\n")); diff != "" {
		t.Errorf("docs/schema.md is not what the types say (-want +got), make generate writes it:\n%s", diff)
	}
}

var (
	links    = regexp.MustCompile(`\]\(#([a-z0-9]+)\)`)
	headings = regexp.MustCompile(`(?m)^### (.+)$`)
	answers  = regexp.MustCompile("`([A-Z][A-Za-z]+)`")
)

// TestThePageHasEveryType that a field has, and every kind that a command answers with.
func TestThePageHasEveryType(t *testing.T) {
	text, has := page(definitions()), map[string]bool{}
	for _, heading := range headings.FindAllStringSubmatch(text, -1) {
		has[strings.ToLower(heading[1])] = true
	}
	for _, to := range links.FindAllStringSubmatch(text, -1) {
		if !has[to[1]] {
			t.Errorf("a link leads to %s, which the page lacks", to[1])
		}
	}
	commands, err := os.ReadFile("../../docs/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(commands)) {
		if !strings.HasPrefix(line, "| `") || strings.Contains(line, "koordctl") {
			continue
		}
		for _, kind := range answers.FindAllStringSubmatch(line, -1) {
			if !has[strings.ToLower(kind[1])] {
				t.Errorf("%s is answered by a command, and the page lacks it", kind[1])
			}
		}
	}
}
