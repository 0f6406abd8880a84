package tui

import (
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
	"github.com/google/go-cmp/cmp"
)

// TestTheLocaleSaysWhatTheTerminalTakes: glyphs beyond ASCII are written in UTF-8 alone, so another charset gets none.
func TestTheLocaleSaysWhatTheTerminalTakes(t *testing.T) {
	for name, tc := range map[string]struct {
		env  string
		want bool
	}{
		"nothing is set":                       {"", true},
		"a UTF-8 locale":                       {"LANG=en_US.UTF-8", true},
		"written in another way":               {"LANG=de_DE.utf8", true},
		"with a modifier":                      {"LANG=de_DE.UTF-8@euro", true},
		"C with UTF-8":                         {"LANG=C.UTF-8", true},
		"the C locale":                         {"LANG=C", false},
		"in lower case":                        {"LANG=c", false},
		"the POSIX locale":                     {"LC_CTYPE=POSIX", false},
		"a locale without a charset":           {"LANG=en_US", true},
		"Latin-1":                              {"LANG=de_DE.ISO-8859-1", false},
		"Latin-9 with a modifier":              {"LANG=de_DE.ISO-8859-15@euro", false},
		"a charset of Cyrillic":                {"LANG=ru_RU.KOI8-R", false},
		"a charset of Japanese":                {"LC_ALL=ja_JP.eucJP", false},
		"LC_ALL beats the others":              {"LC_ALL=C LC_CTYPE=en_US.UTF-8 LANG=en_US.UTF-8", false},
		"LC_CTYPE beats LANG":                  {"LC_CTYPE=en_US.UTF-8 LANG=C", true},
		"an empty one says nothing":            {"LC_ALL= LANG=C", false},
		"the language of messages is not that": {"LC_MESSAGES=C LANG=en_US.UTF-8", true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := takesUnicode(variables(strings.Fields(tc.env))); got != tc.want {
				t.Errorf("%s takes Unicode: %t, want %t", tc.env, got, tc.want)
			}
		})
	}
}

// TestTheTerminalIsAskedAboutColours by what it is called, unless the environment forces or forbids them.
func TestTheTerminalIsAskedAboutColours(t *testing.T) {
	for name, tc := range map[string]struct {
		environ string
		want    colorprofile.Profile
	}{
		"no terminal at all":            {"TERM=xterm-256color", colorprofile.ASCII},
		"a terminal of 256 colours":     {"TERM=xterm-256color TTY_FORCE=1", colorprofile.ANSI256},
		"a terminal of 16 colours":      {"TERM=xterm TTY_FORCE=1", colorprofile.ANSI},
		"forced where there is none":    {"TERM=xterm-256color CLICOLOR_FORCE=1", colorprofile.ANSI256},
		"forbidden":                     {"TERM=xterm-256color TTY_FORCE=1 CLICOLOR=0", colorprofile.ASCII},
		"forced and forbidden":          {"TERM=xterm-256color TTY_FORCE=1 CLICOLOR=0 CLICOLOR_FORCE=1", colorprofile.ANSI256},
		"NO_COLOR beats what is forced": {"TERM=xterm-256color TTY_FORCE=1 CLICOLOR_FORCE=1 NO_COLOR=1", colorprofile.ASCII},
	} {
		t.Run(name, func(t *testing.T) {
			environ := strings.Fields(tc.environ)
			if got := detected(nil, environ, variables(environ)); got != tc.want {
				t.Errorf("%s has the profile %v, want %v", tc.environ, got, tc.want)
			}
		})
	}
}

func TestVariablesOfAnEnvironment(t *testing.T) {
	got := variables([]string{"A=1", "B=", "C=x=y", "no variable", "A=2"})
	if diff := cmp.Diff(map[string]string{"A": "2", "B": "", "C": "x=y"}, got); diff != "" {
		t.Errorf("unexpected variables (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"NO_COLORS=1", "X=NO_COLOR=1"}, without([]string{"NO_COLOR=1", "NO_COLORS=1", "X=NO_COLOR=1", "NO_COLOR="}, "NO_COLOR")); diff != "" {
		t.Errorf("unexpected rest (-want +got):\n%s", diff)
	}
}
