package printer

import (
	"bytes"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func someChecks() []CheckGroup {
	return []CheckGroup{{Name: "webhook", Rows: []CheckRow{
		{ID: "webhook-registered", State: "pass", Role: Good, Detail: "webhooks: 12", Title: "the API server calls webhooks"},
		{ID: "webhook-ca-bundle", State: "failed", Role: Bad, Detail: "a detail that is longer than a narrow terminal", Notes: []CheckNote{{
			Severity: "error", Code: "KOORD0621", Message: "the caBundle of \x1b[31mevil\x1b[0m\nforged cannot be read", Help: "koordctl status", Documentation: "docs/codes.md#koord0621",
		}}},
	}}}
}

func TestChecksFitTheTerminal(t *testing.T) {
	for width := 20; width < 120; width++ {
		var out bytes.Buffer
		o := Options{Width: width, Style: Style{Color: true}, Program: "kubectl koord"}
		if err := Checks(&out, someChecks(), "2 checks", o); err != nil {
			t.Fatal(err)
		}
		if err := FeatureMatrix(&out, []FeatureRow{{Name: "BECPUSuppress", Nodes: 3, Known: 3, Supported: 2, Gaps: "the kernel has no cpuset"}}, o); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			if got := ansi.StringWidth(strings.TrimRight(line, "\n")); got > width {
				t.Errorf("width %d: %d columns in %q", width, got, line)
			}
		}
	}
}

// TestChecksAreReadWithoutColour: each state has a glyph and a word, and what came from the cluster forges none.
func TestChecksAreReadWithoutColour(t *testing.T) {
	var out bytes.Buffer
	if err := Checks(&out, someChecks(), "2 checks", Options{Style: Style{ASCII: true}, Program: "kubectl koord"}); err != nil {
		t.Fatal(err)
	}
	const want = `webhook
  + pass    webhook-registered  webhooks: 12
  x failed  webhook-ca-bundle   a detail that is longer than a narrow terminal
      error KOORD0621 the caBundle of evil forged cannot be read
        hint: kubectl koord status
        see kubectl koord why KOORD0621 or docs/codes.md#koord0621

2 checks
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}
