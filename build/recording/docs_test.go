package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/build/recording/cast"
	"koordinator.sh/koord/build/recording/journey"
	"koordinator.sh/koord/build/recording/picture"
)

const recordings = "../../docs/recordings"

// reference finds the recordings that a page links to or shows.
var reference = regexp.MustCompile(`\((?:docs/)?recordings/([^)\s]+)\)`)

// TestPagesShowTheRecordingsThatThereAre: each journey has its two files, a page shows its picture, and no page refers to another.
func TestPagesShowTheRecordingsThatThereAre(t *testing.T) {
	var declared, pictures, kept []string
	for _, j := range journey.All() {
		declared = append(declared, j.Name+".cast", j.Name+".svg")
		pictures = append(pictures, j.Name+".svg")
	}
	slices.Sort(declared)
	slices.Sort(pictures)
	entries, err := os.ReadDir(recordings)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		kept = append(kept, entry.Name())
	}
	if diff := cmp.Diff(declared, kept); diff != "" {
		t.Errorf("files in docs/recordings (-declared +kept), make recordings:\n%s", diff)
	}
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	var shown []string
	for _, page := range append(pages, "../../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range reference.FindAllStringSubmatch(string(text), -1) {
			if !slices.Contains(declared, match[1]) {
				t.Errorf("%s refers to recording %s, which no journey makes", page, match[1])
			}
			if strings.HasSuffix(match[1], ".svg") {
				shown = append(shown, match[1])
			}
		}
	}
	slices.Sort(shown)
	if diff := cmp.Diff(pictures, slices.Compact(shown)); diff != "" {
		t.Errorf("pictures on pages (-declared +shown):\n%s", diff)
	}
}

func kept(t *testing.T, j journey.Journey) (recording cast.Recording, drawn []byte) {
	t.Helper()
	file, err := os.ReadFile(filepath.Join(recordings, j.Name+".cast"))
	if err != nil {
		t.Fatal(err)
	}
	if recording, err = cast.Decode(bytes.NewReader(file)); err != nil {
		t.Fatal(err)
	}
	if drawn, err = os.ReadFile(filepath.Join(recordings, j.Name+".svg")); err != nil {
		t.Fatal(err)
	}
	return recording, drawn
}

// largest is the size that a picture may have: a page with several is still loaded at once.
const largest = 150 << 10

func TestRecordingsAreOfTheJourneys(t *testing.T) {
	for _, j := range journey.All() {
		t.Run(j.Name, func(t *testing.T) {
			recording, drawn := kept(t, j)
			if recording.Title != j.Title || recording.Columns != j.Columns || recording.Rows != j.Rows {
				t.Errorf("recording %q of %dx%d, the journey is %q of %dx%d", recording.Title, recording.Columns, recording.Rows, j.Title, j.Columns, j.Rows)
			}
			if length := recording.Events[len(recording.Events)-1].At; length < 5*time.Second || length > 25*time.Second {
				t.Errorf("the recording is %s long, want 5 to 25 s", length)
			}
			if err := neutral(recording, nil); err != nil {
				t.Error(err)
			}
			again, err := picture.Draw(recording)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(again, drawn) {
				t.Error("the picture is not of this recording: make recordings")
			}
			if len(drawn) > largest {
				t.Errorf("the picture has %d bytes, want at most %d", len(drawn), largest)
			}
			if step, text := unseen(recording, j.Steps); text != "" {
				t.Errorf("the recording does not show %q after %q: make recordings", text, step.Keys)
			}
		})
	}
}

// unseen is the first text that a recording does not show when the journey says so.
func unseen(recording cast.Recording, steps []journey.Step) (journey.Step, string) {
	screen := vt.NewEmulator(recording.Columns, recording.Rows)
	if replies, ok := screen.InputPipe().(io.Closer); ok {
		replies.Close()
	}
	missing := func(step journey.Step) string {
		shown := screen.String()
		for _, text := range step.Texts {
			if !strings.Contains(shown, text) {
				return text
			}
		}
		return ""
	}
	for _, event := range recording.Events {
		screen.WriteString(event.Output)
		for len(steps) > 0 && missing(steps[0]) == "" {
			steps = steps[1:]
		}
	}
	if len(steps) == 0 {
		return journey.Step{}, ""
	}
	return steps[0], missing(steps[0])
}
