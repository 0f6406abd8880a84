package cast

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestFileOfASession(t *testing.T) {
	session := Recording{Title: `a "title" & <more>`, Columns: 80, Rows: 24, Events: []Event{
		{0, "$ "},
		{1500 * time.Millisecond, "koordctl top nodes\r\n"},
		{1500 * time.Millisecond, "\x1b[1mNAME\x1b[0m  批\x00\a\u2028"},
		{2 * time.Second, `"quoted" \ <b>`},
	}}
	got, err := session.Encode()
	if err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/session.golden.cast"
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
		t.Errorf("file (-want +got):\n%s", diff)
	}
}

// TestFilesKeepWhatWasPrinted also holds that no control character is in a file as it is, where a terminal that shows the file would obey it.
func TestFilesKeepWhatWasPrinted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := Recording{Title: rapid.String().Draw(t, "title"), Columns: rapid.IntRange(1, 300).Draw(t, "columns"), Rows: rapid.IntRange(1, 100).Draw(t, "rows")}
		at := time.Duration(0)
		for range rapid.IntRange(0, 10).Draw(t, "events") {
			at += time.Duration(rapid.IntRange(0, 5000).Draw(t, "pause")) * time.Millisecond
			want.Events = append(want.Events, Event{at, rapid.String().Draw(t, "output")})
		}
		file, err := want.Encode()
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range file {
			if b < ' ' && b != '\n' {
				t.Fatalf("control character %q in the file:\n%q", b, file)
			}
		}
		got, err := Decode(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("recording (-want +got):\n%s", diff)
		}
	})
}

func TestEventsAreInOrder(t *testing.T) {
	_, err := Recording{Title: "why", Events: []Event{{2 * time.Second, "b"}, {time.Second, "a"}}}.Encode()
	if err == nil || !strings.Contains(err.Error(), "event 1 is at 1s, before the one at 2s") {
		t.Errorf("Encode() = %v, want an error about event 1", err)
	}
}

func TestDecodeRefuses(t *testing.T) {
	tests := map[string]struct{ file, want string }{
		"an empty file":                  {"", "the recording is empty"},
		"a file of another kind":         {"<svg/>", "parse the header"},
		"another version":                {`{"version":3}`, "version 3 of a recording is not supported"},
		"an event that is not a list":    {"{\"version\":2}\n{}", "parse event 0"},
		"an event without a time":        {"{\"version\":2}\n[\"o\",\"x\"]", "parse event 0"},
		"an event that was cut off":      {"{\"version\":2}\n[0,\"o\",\"x\"]\n[1,\"o", "parse event 1"},
		"an event that prints no string": {"{\"version\":2}\n[0,\"o\",1]", "parse event 0"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := Decode(strings.NewReader(test.file)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("Decode() = %v, want an error with %q", err, test.want)
			}
		})
	}
}

func TestInputIsLeftOut(t *testing.T) {
	got, err := Decode(strings.NewReader("{\"version\":2}\n[0,\"i\",\"x\"]\n[1.5,\"o\",\"y\"]\n"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Event{{1500 * time.Millisecond, "y"}}, got.Events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}
