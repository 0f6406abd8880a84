package terminal

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"koordinator.sh/koord/build/recording/cast"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T) *Session {
	t.Helper()
	s, err := Open(t.Context(), "shell", 40, 6, t.TempDir(), []string{"PATH=/usr/bin:/bin", "SECRET=none"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestASessionIsRecordedAsItWasTyped(t *testing.T) {
	s := open(t)
	must(t, s.Await(t.Context(), nil, true))
	must(t, s.Type(t.Context(), "printf '%s\\n' 批处理 $((40+2))\r"))
	must(t, s.Await(t.Context(), []string{"批处理", "42"}, true))
	s.Hold(2 * time.Second)
	must(t, s.Type(t.Context(), "echo $COLUMNS$LINES$TERM\r"))
	must(t, s.Await(t.Context(), []string{"xterm-256color"}, true))
	recording, err := s.Close()
	must(t, err)
	var all strings.Builder
	for i, event := range recording.Events {
		all.WriteString(event.Output)
		if i > 0 && event.At < recording.Events[i-1].At {
			t.Errorf("event %d at %s comes after %s", i, event.At, recording.Events[i-1].At)
		}
	}
	want := "$ printf '%s\\n' 批处理 $((40+2))\r\n批处理\r\n42\r\n$ echo $COLUMNS$LINES$TERM\r\n406xterm-256color\r\n$ "
	if diff := cmp.Diff(want, all.String()); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
	if last := recording.Events[len(recording.Events)-1].At; last < 2*time.Second || last > 10*time.Second {
		t.Errorf("the recording ends at %s, want it to contain the hold of 2 s and little more", last)
	}
}

func TestTheEndOfTheShellIsAnError(t *testing.T) {
	s := open(t)
	must(t, s.Await(t.Context(), nil, true))
	must(t, s.Type(t.Context(), "exit\r"))
	err := s.Await(t.Context(), []string{"never"}, false)
	if err == nil || !strings.Contains(err.Error(), `await "never": the shell has ended; the screen shows:`) || !strings.Contains(err.Error(), "$ exit") {
		t.Errorf("Await() = %v, want an error with the screen", err)
	}
	_, err = s.Close()
	must(t, err)
}

func TestCloseEndsWhatRuns(t *testing.T) {
	s := open(t)
	must(t, s.Await(t.Context(), nil, true))
	must(t, s.Type(t.Context(), "trap '' HUP; cat\r")) // as under nohup
	must(t, s.Type(t.Context(), "hello\r"))
	must(t, s.Await(t.Context(), []string{"hello\nhello"}, false))
	recording, err := s.Close()
	must(t, err)
	if last := recording.Events[len(recording.Events)-1].Output; strings.Contains(last, "exit") {
		t.Errorf("the recording ends with %q, want nothing of the end of the shell", last)
	}
}

func TestRecorderKeepsThePace(t *testing.T) {
	start := time.Unix(0, 0)
	at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	r := recorder{began: start}
	r.add("$ ", at(20))
	r.hold(time.Second, at(30))
	r.add("a", at(31))
	r.add("b", at(33))
	r.hold(100*time.Millisecond, at(40))
	r.add("slow", at(60_000))
	r.add("er", at(60_500))
	r.hold(time.Second, at(61_000))
	r.add("end", at(61_020))
	want := []cast.Event{
		{At: 20 * time.Millisecond, Output: "$ "},
		{At: 1021 * time.Millisecond, Output: "ab"},
		{At: 1821 * time.Millisecond, Output: "slower"},
		{At: 2841 * time.Millisecond, Output: "end"},
	}
	if diff := cmp.Diff(want, r.recording.Events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestCharactersAreNotSplit(t *testing.T) {
	tests := map[string]struct{ read, want, wantRest string }{
		"nothing":                    {"", "", ""},
		"ASCII":                      {"ab", "ab", ""},
		"whole":                      {"a批", "a批", ""},
		"two of three bytes":         {"a\xe6\x89", "a", "\xe6\x89"},
		"one of four bytes":          {"\xf0", "", "\xf0"},
		"bytes that begin no letter": {"a\x89\x89\x89\x89\x89", "a\x89\x89\x89\x89\x89", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			whole, rest := wholeCharacters([]byte(test.read))
			if string(whole) != test.want || string(rest) != test.wantRest {
				t.Errorf("wholeCharacters(%q) = %q, %q, want %q, %q", test.read, whole, rest, test.want, test.wantRest)
			}
		})
	}
}
