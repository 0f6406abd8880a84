package printer

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// TestTextsOfTenThousandCharactersFit: no API server stores such a name, but another program may answer one, and messages have no bound.
func TestTextsOfTenThousandCharactersFit(t *testing.T) {
	for name, show := range map[string]view{
		"top nodes": func(w io.Writer, o Options) error { return NodeOverviews(w, endless(t, nodesFixture()), o) },
		"top pods":  func(w io.Writer, o Options) error { return PodOverviews(w, endless(t, podsFixture()), o) },
		"explain node": func(w io.Writer, o Options) error {
			return NodeExplanation(w, endless(t, nodeExplanationFixture()), o)
		},
		"explain pod": func(w io.Writer, o Options) error { return PodExplanation(w, endless(t, pendingPodFixture()), o) },
		"why pod": func(w io.Writer, o Options) error {
			return BriefPod(endless(t, pendingPodFixture())).Print(w, o)
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, width := range []int{80, 200} {
				var out bytes.Buffer
				if err := show(&out, Options{Width: width, Now: fixtureNow}); err != nil {
					t.Fatal(err)
				}
				for line := range strings.Lines(out.String()) {
					if got := ansi.StringWidth(strings.TrimSuffix(line, "\n")); got > width && !copyable(line) {
						t.Fatalf("a line of %d columns on a terminal of %d: %.100q", got, width, line)
					}
				}
			}
		})
	}
}

// endless is an answer in which every name and message has 10,000 more characters.
func endless[T any](t *testing.T, answer *T) *T {
	t.Helper()
	data, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 10_000)
	for _, field := range []string{`"name":"`, `"namespace":"`, `"message":"`, `"reason":"`, `"summary":"`, `"nodeName":"`, `"podName":"`} {
		data = bytes.ReplaceAll(data, []byte(field), []byte(field+long))
	}
	out := new(T)
	if err := json.Unmarshal(data, out); err != nil {
		t.Fatal(err)
	}
	return out
}
