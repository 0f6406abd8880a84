package tui

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/tui/internal/fixture"
	"koordinator.sh/koord/tui/internal/style"
)

func TestAppearance(t *testing.T) {
	for name, tc := range map[string]struct {
		environ []string
		color   string
		ascii   bool
		theme   string
		want    style.Appearance
		wantErr finding.Code
	}{
		"a terminal with true colour":      {environ: []string{"TERM=xterm-256color", "COLORTERM=truecolor", "TTY_FORCE=1"}, want: style.Appearance{Profile: colorprofile.TrueColor}},
		"NO_COLOR with any value":          {environ: []string{"TERM=xterm-256color", "NO_COLOR=yes", "TTY_FORCE=1"}, want: style.Appearance{Profile: colorprofile.ASCII}},
		"NO_COLOR that is no boolean":      {environ: []string{"TERM=xterm-256color", "NO_COLOR=0", "TTY_FORCE=1"}, want: style.Appearance{Profile: colorprofile.ASCII}},
		"an empty NO_COLOR does not count": {environ: []string{"TERM=xterm-256color", "NO_COLOR=", "TTY_FORCE=1"}, want: style.Appearance{Profile: colorprofile.ANSI256}},
		"CLICOLOR=0":                       {environ: []string{"TERM=xterm-256color", "CLICOLOR=0", "TTY_FORCE=1"}, want: style.Appearance{Profile: colorprofile.ASCII}},
		"--color=never":                    {environ: []string{"TERM=xterm-256color"}, color: "never", want: style.Appearance{Profile: colorprofile.ASCII}},
		"--color=always beats NO_COLOR":    {environ: []string{"TERM=xterm-256color", "NO_COLOR=1"}, color: "always", want: style.Appearance{Profile: colorprofile.ANSI256}},
		"--ascii":                          {environ: []string{"TERM=xterm"}, color: "never", ascii: true, want: style.Appearance{Profile: colorprofile.ASCII, ASCII: true}},
		"the C locale is ASCII":            {environ: []string{"TERM=xterm", "LANG=C"}, color: "never", want: style.Appearance{Profile: colorprofile.ASCII, ASCII: true}},
		"LC_ALL beats LANG":                {environ: []string{"TERM=xterm", "LANG=C", "LC_ALL=C.UTF-8"}, color: "never", want: style.Appearance{Profile: colorprofile.ASCII}},
		"a dumb terminal is refused":       {environ: []string{"TERM=dumb"}, wantErr: finding.InvalidArgument},
		"--theme":                          {environ: []string{"TERM=xterm", "KOORD_THEME=contrast"}, color: "never", theme: "colorblind", want: style.Appearance{Profile: colorprofile.ASCII, Theme: "colorblind"}},
		"--theme=default":                  {environ: []string{"TERM=xterm", "KOORD_THEME=contrast"}, color: "never", theme: "default", want: style.Appearance{Profile: colorprofile.ASCII}},
		"KOORD_THEME":                      {environ: []string{"TERM=xterm", "KOORD_THEME=contrast"}, color: "never", want: style.Appearance{Profile: colorprofile.ASCII, Theme: "contrast"}},
		"an unknown --theme":               {environ: []string{"TERM=xterm"}, theme: "pink", wantErr: finding.InvalidArgument},
		"an unknown KOORD_THEME":           {environ: []string{"TERM=xterm", "KOORD_THEME=pink"}, wantErr: finding.InvalidArgument},
		"an unknown --color":               {environ: []string{"TERM=xterm"}, color: "blue", wantErr: finding.InvalidArgument},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := appearanceOf(Options{Out: io.Discard, Environ: tc.environ, Color: tc.color, ASCII: tc.ascii, Theme: tc.theme})
			if tc.wantErr != "" {
				if f, ok := finding.From(err); !ok || f.Code != tc.wantErr || f.Hint == "" {
					t.Fatalf("got error %v, want %s with a hint", err, tc.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("unexpected appearance (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNormalisedEnvironment(t *testing.T) {
	got := normalised([]string{"A=1", "NO_COLOR=yes"}, plainLook)
	if diff := cmp.Diff([]string{"A=1", "NO_COLOR=1"}, got); diff != "" {
		t.Errorf("unexpected environment (-want +got):\n%s", diff)
	}
	if got := normalised([]string{"NO_COLOR=1"}, colourLook); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}

// screenWriter keeps what was written, for a reader in another goroutine.
type screenWriter struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (w *screenWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.Write(p)
}

func options(in io.Reader, out io.Writer) Options {
	return Options{
		Source: &fixture.Cluster{Size: 3, Now: time.Now, Epoch: time.Now()}, In: in, Out: out,
		Environ: []string{"TERM=xterm"}, Color: "never",
	}
}

func TestRunQuitsOnQ(t *testing.T) {
	defer goleak.VerifyNone(t)
	in, keys := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- Run(t.Context(), options(in, &screenWriter{})) }()
	if _, err := keys.Write([]byte("q")); err != nil {
		t.Fatal(err)
	}
	waitFor(t, done)
	_ = keys.Close()
}

func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, keys := io.Pipe()
	defer keys.Close()
	done := make(chan error, 1)
	go func() { done <- Run(ctx, options(in, &screenWriter{})) }()
	cancel()
	waitFor(t, done)
}

func waitFor(t *testing.T, done <-chan error) {
	t.Helper()
	select {
	case err := <-done:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the workbench does not end")
	}
}

func TestRunRefusesAFile(t *testing.T) {
	file, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	err = Run(t.Context(), options(strings.NewReader(""), file))
	if f, ok := finding.From(err); !ok || f.Hint != "koordctl top nodes" {
		t.Errorf("got %v, want an error with a hint", err)
	}
}
