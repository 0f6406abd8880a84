package picture

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"koordinator.sh/koord/build/recording/cast"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// session prints every look there is, and asks the terminal what it is, as programs do.
func session(t *testing.T) cast.Recording {
	looks, err := os.ReadFile("testdata/looks.ansi")
	if err != nil {
		t.Fatal(err)
	}
	return cast.Recording{Title: `a "window" & <title>`, Columns: 72, Rows: 12, Events: []cast.Event{
		{At: 0, Output: "\x1b[?2026$p\x1b[c$ "},
		{At: time.Second, Output: "cat"},
		{At: 1010 * time.Millisecond, Output: " looks"},
		{At: 2 * time.Second, Output: "\r\n" + strings.ReplaceAll(string(looks), "\n", "\r\n") + "$ "},
		{At: 5 * time.Second, Output: "\x1b[?25l"},
	}}
}

func TestPictureOfASession(t *testing.T) {
	got, err := Draw(session(t))
	if err != nil {
		t.Fatal(err)
	}
	wellFormed(t, got)
	const golden = "testdata/session.golden.svg"
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("picture (-want +got):\n%s", diff)
	}
}

type failer interface {
	Helper()
	Fatalf(string, ...any)
}

func wellFormed(t failer, svg []byte) {
	t.Helper()
	decoder := xml.NewDecoder(bytes.NewReader(svg))
	for {
		_, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("not well-formed: %v\n%s", err, svg)
		}
	}
}

func TestAStillPictureDoesNotMove(t *testing.T) {
	got, err := Draw(cast.Recording{Columns: 4, Rows: 1, Events: []cast.Event{{Output: "x"}}})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(got), "keyframes") {
		t.Errorf("one frame is animated:\n%s", got)
	}
}

func TestARecordingWithoutOutputHasNoPicture(t *testing.T) {
	_, err := Draw(cast.Recording{Title: "why", Columns: 4, Rows: 1})
	if err == nil || !strings.Contains(err.Error(), `recording "why" shows nothing`) {
		t.Errorf("Draw() = %v, want an error that nothing is shown", err)
	}
}

// keyframe is one step of the animation: when, and how far the strip of frames is moved.
var keyframe = regexp.MustCompile(`([0-9.]+)%\{transform:translateX\(-(\d+)px\)\}`)

func TestFramesAreShownInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := cast.Recording{Title: "steps", Columns: 20, Rows: 3}
		at := time.Duration(0)
		for i := range rapid.IntRange(2, 60).Draw(t, "events") {
			r.Events = append(r.Events, cast.Event{At: at, Output: fmt.Sprintf("\rstep %d", i)})
			at += time.Duration(rapid.IntRange(0, 400).Draw(t, "pause")) * time.Millisecond
		}
		shots := frames(r)
		if len(shots) > mostFrames {
			t.Fatalf("%d frames, want at most %d", len(shots), mostFrames)
		}
		last, final := shots[len(shots)-1], fmt.Sprintf("step %d", len(r.Events)-1)
		if got := strings.TrimSpace(text(last.screen[0])); got != final {
			t.Errorf("last frame shows %q, want %q", got, final)
		}
		svg, err := Draw(r)
		if err != nil {
			t.Fatal(err)
		}
		steps := keyframe.FindAllSubmatch(svg, -1)
		if len(shots) > 1 && len(steps) != len(shots) {
			t.Fatalf("%d steps for %d frames", len(steps), len(shots))
		}
		before := -1.0
		for i, step := range steps {
			var percent float64
			fmt.Sscan(string(step[1]), &percent)
			if want := fmt.Sprint(i * 160); string(step[2]) != want || percent <= before || percent >= 100 {
				t.Errorf("step %d: at %s%% (before: %v%%) moved by %s, want %s", i, step[1], before, step[2], want)
			}
			before = percent
		}
	})
}

func text(line []cell) string {
	var b strings.Builder
	for _, c := range line {
		b.WriteString(c.text)
	}
	return b.String()
}

// TestNothingThatIsPrintedIsMarkup holds that output and titles are text of the picture, whatever they contain.
func TestNothingThatIsPrintedIsMarkup(t *testing.T) {
	allowed := map[string]bool{"svg": true, "style": true, "rect": true, "path": true, "circle": true, "text": true, "defs": true, "g": true, "use": true}
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"<script>x</script>", "</text>", "]]>", "&lt;", "\"", "\x00", "\a", "\x7f", "\ufffe", "\u009b1m"}))
		r := cast.Recording{Title: piece.Draw(t, "title"), Columns: 40, Rows: 4, Events: []cast.Event{
			{At: 0, Output: piece.Draw(t, "first")}, {At: time.Second, Output: piece.Draw(t, "second")},
		}}
		svg, err := Draw(r)
		if err != nil {
			t.Fatal(err)
		}
		wellFormed(t, svg)
		decoder := xml.NewDecoder(bytes.NewReader(svg))
		for token, err := decoder.Token(); err == nil; token, err = decoder.Token() {
			if element, is := token.(xml.StartElement); is && !allowed[element.Name.Local] {
				t.Errorf("element <%s> comes from what was printed", element.Name.Local)
			}
		}
		if i := bytes.IndexFunc(svg, func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f || r >= 0x80 && r < 0xa0 }); i >= 0 {
			t.Errorf("control character %q in the picture", svg[i:min(i+4, len(svg))])
		}
	})
}
