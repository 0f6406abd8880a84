package prompt

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestOnlyYesIsYes(t *testing.T) {
	tests := map[string]struct {
		in   string
		want bool
	}{
		"y":                    {"y\n", true},
		"yes":                  {"yes\n", true},
		"in capitals":          {"YES\n", true},
		"with blanks":          {"  y \r\n", true},
		"without a line break": {"y", true},
		"n":                    {"n\n", false},
		"nothing":              {"\n", false},
		"the end of input":     {"", false},
		"another word":         {"yeah\n", false},
		"yes on another line":  {"\nyes\n", false},
		"an endless line":      {strings.Repeat("y", 1<<20), false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			got, err := Confirm(t.Context(), strings.NewReader(tc.in), &out, "Write this?")
			if err != nil || got != tc.want {
				t.Errorf("%t, %v, want %t", got, err, tc.want)
			}
			if out.String() != "Write this? [y/N] " {
				t.Errorf("asked %q", out.String())
			}
		})
	}
}

func TestInputThatFailsIsNoAnswer(t *testing.T) {
	broken := errors.New("input/output error")
	got, err := Confirm(t.Context(), iotest.ErrReader(broken), io.Discard, "Go on?")
	if got || !errors.Is(err, broken) || err.Error() != "read the answer: input/output error" {
		t.Errorf("%t, %v", got, err)
	}
}

func TestAnInterruptionWhileNothingIsTypedIsNoAnswer(t *testing.T) {
	in, typed := io.Pipe()
	defer typed.Close() // ends the read that is waiting
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out strings.Builder
	got, err := Confirm(ctx, in, &out, "Go on?")
	if got || !errors.Is(err, context.Canceled) || out.String() != "Go on? [y/N] \n" {
		t.Errorf("%t, %v, %q", got, err, out.String())
	}
}

func TestAnAnswerAfterAnInterruptionIsNone(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 { // which of the two is seen first is left to chance
		if got, err := Confirm(ctx, strings.NewReader("y\n"), io.Discard, "Go on?"); got || !errors.Is(err, context.Canceled) {
			t.Fatalf("%t, %v", got, err)
		}
	}
}
