package kubectlplugin

import (
	"strings"

	"koordinator.sh/koord/kubectl-plugin/printer"
)

// Style decides colour and glyphs from the flags, the environment and the terminal. The flag wins; then any non-empty
// NO_COLOR or TERM=dumb turns colour off, CLICOLOR_FORCE turns it on, CLICOLOR=0 turns it off, and otherwise a terminal
// has it. A locale that is set and not UTF-8 gets ASCII.
func Style(color string, ascii bool, getenv func(string) string, terminal Terminal) printer.Style {
	return printer.Style{Color: colored(color, getenv, terminal), ASCII: ascii || asciiLocale(getenv, terminal)}
}

func colored(flag string, getenv func(string) string, terminal Terminal) bool {
	switch flag {
	case "always":
		return true
	case "never":
		return false
	}
	force := getenv("CLICOLOR_FORCE")
	switch {
	case getenv("NO_COLOR") != "":
		return false
	case force != "" && force != "0":
		return true
	case getenv("TERM") == "dumb", getenv("CLICOLOR") == "0":
		return false
	default:
		return terminal.Output
	}
}

// asciiLocale is true on a terminal whose locale cannot show more than ASCII.
func asciiLocale(getenv func(string) string, terminal Terminal) bool {
	if !terminal.Output {
		return false
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if value := getenv(name); value != "" {
			upper := strings.ToUpper(value)
			return !strings.Contains(upper, "UTF-8") && !strings.Contains(upper, "UTF8")
		}
	}
	return false
}
