package tui

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/charmbracelet/colorprofile"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/messages"
	"koordinator.sh/koord/tui/internal/style"
)

// themeVariable of the environment names the theme where no flag does.
const themeVariable = "KOORD_THEME"

// appearanceOf decides about colours and glyphs from the flags and the environment. A dumb terminal is refused: it
// cannot place text, so nothing but the command line works there.
func appearanceOf(o Options) (style.Appearance, error) {
	env := variables(o.Environ)
	if env["TERM"] == "dumb" {
		return style.Appearance{}, finding.Wrap(fmt.Errorf("start the terminal user interface: a terminal of type %q cannot move the cursor", "dumb"),
			finding.InvalidArgument, "koordctl top nodes")
	}
	theme, err := themeOf(o.Theme, env)
	if err != nil {
		return style.Appearance{}, err
	}
	a := style.Appearance{ASCII: o.ASCII || !takesUnicode(env), Theme: theme}
	if messages.Chosen(func(name string) string { return env[name] }) == messages.Chinese && !a.ASCII {
		a.Language = messages.Chinese
	}
	switch o.Color {
	case "", "auto":
		a.Profile = detected(o.Out, o.Environ, env)
	case "always":
		a.Profile = max(colorprofile.Env(without(o.Environ, "NO_COLOR")), colorprofile.ANSI)
	case "never":
		a.Profile = colorprofile.ASCII
	default:
		return a, finding.Wrap(fmt.Errorf("invalid --color %q: must be auto, always or never", o.Color),
			finding.InvalidArgument, "koordctl tui --color=auto")
	}
	return a, nil
}

// themeOf is the theme of the flag, or of the environment.
func themeOf(flag string, env map[string]string) (style.Theme, error) {
	name, from := flag, "--theme"
	if name == "" {
		name, from = env[themeVariable], themeVariable
	}
	theme, err := style.ParseTheme(name)
	if err != nil {
		return "", finding.Wrap(fmt.Errorf("%s: %w", from, err), finding.InvalidArgument, "koordctl tui --theme=default")
	}
	return theme, nil
}

// detected follows NO_COLOR, CLICOLOR and CLICOLOR_FORCE. Any value of NO_COLOR but the empty one counts.
func detected(out io.Writer, environ []string, env map[string]string) colorprofile.Profile {
	if env["NO_COLOR"] != "" {
		return colorprofile.ASCII
	}
	if forced, _ := strconv.ParseBool(env["CLICOLOR_FORCE"]); !forced && env["CLICOLOR"] == "0" {
		return colorprofile.ASCII
	}
	return max(colorprofile.Detect(out, environ), colorprofile.ASCII)
}

// normalised is the environment for libraries that read NO_COLOR as a boolean.
func normalised(environ []string, a style.Appearance) []string {
	out := without(environ, "NO_COLOR")
	if !a.Colour() {
		out = append(out, "NO_COLOR=1")
	}
	return out
}

// takesUnicode is false when the locale says that the terminal takes ASCII only, or another charset than UTF-8, such as
// de_DE.ISO-8859-1. An unset locale says nothing.
func takesUnicode(env map[string]string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := env[name]; locale != "" {
			language, charset, named := strings.Cut(strings.ToUpper(locale), ".")
			if !named {
				return language != "C" && language != "POSIX"
			}
			charset, _, _ = strings.Cut(charset, "@")
			return strings.ReplaceAll(charset, "-", "") == "UTF8"
		}
	}
	return true
}

func variables(environ []string) map[string]string {
	out := make(map[string]string, len(environ))
	for _, entry := range environ {
		if name, value, ok := strings.Cut(entry, "="); ok {
			out[name] = value
		}
	}
	return out
}

func without(environ []string, name string) []string {
	out := make([]string, 0, len(environ)+1)
	for _, entry := range environ {
		if !strings.HasPrefix(entry, name+"=") {
			out = append(out, entry)
		}
	}
	return out
}
