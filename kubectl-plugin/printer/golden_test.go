package printer

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/messages"
)

var update = flag.Bool("update", false, "rewrite the golden files")

type view func(io.Writer, Options) error

// views are all that is ever printed for a person.
func views(t testing.TB) map[string]view {
	t.Helper()
	entries, err := finding.All()
	if err != nil {
		t.Fatal(err)
	}
	stale, _ := finding.Lookup(finding.MetricStale)
	all := map[string]view{
		"top-nodes":           func(w io.Writer, o Options) error { return NodeOverviews(w, nodesFixture(), o) },
		"top-nodes-wide":      func(w io.Writer, o Options) error { o.Wide = true; return NodeOverviews(w, nodesFixture(), o) },
		"top-nodes-noheaders": func(w io.Writer, o Options) error { o.NoHeaders = true; return NodeOverviews(w, nodesFixture(), o) },
		"top-pods":            func(w io.Writer, o Options) error { return PodOverviews(w, podsFixture(), o) },
		"top-pods-all-wide": func(w io.Writer, o Options) error {
			o.Wide, o.WithNamespace = true, true
			return PodOverviews(w, podsFixture(), o)
		},
		"explain-node": func(w io.Writer, o Options) error { return NodeExplanation(w, nodeExplanationFixture(), o) },
		"explain-node-wide": func(w io.Writer, o Options) error {
			o.Wide, o.Parts = true, 5
			return NodeExplanation(w, nodeExplanationFixture(), o)
		},
		"explain-node-parts": func(w io.Writer, o Options) error {
			o.Parts = 1
			return NodeExplanation(w, nodeExplanationFixture(), o)
		},
		"explain-pod-pending":  func(w io.Writer, o Options) error { return PodExplanation(w, pendingPodFixture(), o) },
		"explain-pod-nodes":    func(w io.Writer, o Options) error { o.Parts = 2; return PodExplanation(w, pendingPodFixture(), o) },
		"explain-pod-refused":  func(w io.Writer, o Options) error { return PodExplanation(w, refusedFixFixture(), o) },
		"explain-pod-owned":    func(w io.Writer, o Options) error { return PodExplanation(w, ownedFixture(), o) },
		"explain-pod-hinted":   func(w io.Writer, o Options) error { return PodExplanation(w, hintedFixture(), o) },
		"explain-pod-job":      func(w io.Writer, o Options) error { return PodExplanation(w, jobFixture(), o) },
		"explain-pod-tenant":   func(w io.Writer, o Options) error { return PodExplanation(w, tenantFixture(), o) },
		"explain-pod-preempts": func(w io.Writer, o Options) error { return PodExplanation(w, preemptionFixture(), o) },
		"explain-pod-helpless": func(w io.Writer, o Options) error { return PodExplanation(w, helplessFixture(), o) },
		"explain-pod-history":  func(w io.Writer, o Options) error { return PodExplanation(w, historyFixture(), o) },
		"explain-pod-bound":    func(w io.Writer, o Options) error { return PodExplanation(w, boundPodFixture(), o) },
		"status":               status,
		"codes":                func(w io.Writer, o Options) error { return Codes(w, entries[:6], messages.English, o) },
		"codes-zh":             func(w io.Writer, o Options) error { return Codes(w, entries[:6], messages.Chinese, o) },
		"why":                  func(w io.Writer, o Options) error { return Code(w, stale, messages.English, o) },
		"why-zh":               func(w io.Writer, o Options) error { return Code(w, stale, messages.Chinese, o) },
	}
	maps.Copy(all, agentViews())
	maps.Copy(all, recommendationViews())
	maps.Copy(all, workersViews())
	maps.Copy(all, jobViews())
	maps.Copy(all, workloadExplanationViews())
	maps.Copy(all, migrationViews())
	maps.Copy(all, answerViews())
	maps.Copy(all, evictionViews())
	maps.Copy(all, whatifViews())
	maps.Copy(all, timelineViews())
	maps.Copy(all, placementViews())
	maps.Copy(all, whatifQuotaViews())
	maps.Copy(all, workloadViews())
	maps.Copy(all, quotaViews())
	maps.Copy(all, admissionViews())
	return all
}

func TestEveryViewAtEveryWidthInEveryStyle(t *testing.T) {
	styles := map[string]Style{"colour": {Color: true}, "plain": {}, "ascii": {ASCII: true}}
	for name, show := range views(t) {
		for _, width := range []int{0, 80, 120, 200} {
			for styleName, style := range styles {
				variant := fmt.Sprintf("%s-%d-%s", name, width, styleName)
				if width == 0 {
					variant = fmt.Sprintf("%s-piped-%s", name, styleName)
				}
				t.Run(variant, func(t *testing.T) {
					var out bytes.Buffer
					if err := show(&out, Options{Width: width, Style: style, Now: fixtureNow}); err != nil {
						t.Fatal(err)
					}
					golden(t, filepath.Join("testdata", name, strings.TrimPrefix(variant, name+"-")+".txt"), out.String())
				})
			}
		}
	}
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (-update writes it)", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("unexpected output (-want +got):\n%s", diff)
	}
}

func TestNoLineIsWiderThanTheTerminal(t *testing.T) {
	for name, show := range views(t) {
		t.Run(name, func(t *testing.T) {
			for width := 1; width <= 200; width++ {
				for _, style := range []Style{{}, {Color: true}, {ASCII: true}} {
					var out bytes.Buffer
					if err := show(&out, Options{Width: width, Style: style, Now: fixtureNow}); err != nil {
						t.Fatal(err)
					}
					if strings.HasSuffix(name, "wide") || width < 40 && !strings.HasPrefix(name, "top") {
						continue // wide is never cut, and a paragraph's indent alone takes more than a tiny terminal has
					}
					for line := range strings.Lines(out.String()) {
						if got := ansi.StringWidth(strings.TrimSuffix(line, "\n")); got > width && !copyable(line) {
							t.Fatalf("a line of %d columns on a terminal of %d: %q", got, width, line)
						}
					}
				}
			}
		})
	}
}

// copyable lines are commands, which are not broken so that they can be copied.
func copyable(line string) bool {
	return strings.Contains(line, "kubectl ") || strings.HasPrefix(strings.TrimSpace(line), "koordctl ")
}

func TestStylesAddNoText(t *testing.T) {
	for name, show := range views(t) {
		t.Run(name, func(t *testing.T) {
			var colour, plain bytes.Buffer
			o := Options{Width: 120, Now: fixtureNow}
			if err := show(&plain, o); err != nil {
				t.Fatal(err)
			}
			o.Style.Color = true
			if err := show(&colour, o); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(plain.String(), ansi.Strip(colour.String())); diff != "" {
				t.Errorf("colour changes the text (-plain +colour):\n%s", diff)
			}
		})
	}
}

func TestASCIIMeansASCII(t *testing.T) {
	for name, show := range views(t) {
		if strings.HasSuffix(name, "-zh") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := show(&out, Options{Width: 120, Style: Style{ASCII: true}, Now: fixtureNow}); err != nil {
				t.Fatal(err)
			}
			for i, r := range out.String() {
				if r > 127 {
					t.Fatalf("%q at byte %d is not ASCII", r, i)
				}
			}
		})
	}
}
