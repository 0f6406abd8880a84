package style

import (
	"fmt"
	"strings"
)

// Theme is the name of a set of colours; empty for the default ones.
type Theme string

// theme is a set of colours for every terminal that has colours.
type theme struct {
	name Theme
	// title says in a few words what it is for.
	title string
	// dark and light are true colours on such a background, indexed are those of 256 on a dark one, and basic are the terminal's own 16.
	dark, light, indexed, basic func() palette
}

// themes are all that can be chosen, the default one first.
var themes = []theme{
	{"default", "calm colours", darkPalette, lightPalette, indexedPalette, basicPalette},
	{"colorblind", "blue, yellow and orange, which no colour vision deficiency confuses", safeDarkPalette, safeLightPalette, safeIndexedPalette, safeBasicPalette},
	{"contrast", "high contrast, for bright rooms, projectors and low vision", strongDarkPalette, strongLightPalette, strongIndexedPalette, strongBasicPalette},
}

// Themes are the names that ParseTheme takes, the default one first.
func Themes() []string {
	names := make([]string, 0, len(themes))
	for _, t := range themes {
		names = append(names, string(t.name))
	}
	return names
}

// ParseTheme returns the theme of a name; the empty one is the default.
func ParseTheme(name string) (Theme, error) {
	if name == "" || name == string(themes[0].name) {
		return "", nil
	}
	for _, t := range themes {
		if string(t.name) == name {
			return t.name, nil
		}
	}
	return "", fmt.Errorf("invalid theme %q: must be one of %s", name, strings.Join(Themes(), ", "))
}

// Describe is the name of the theme and what it is for.
func (t Theme) Describe() string {
	found := t.declared()
	return fmt.Sprintf("%s: %s", found.name, found.title)
}

// declared is the declaration of the theme; of one that does not exist that of the default one.
func (t Theme) declared() *theme {
	for i := range themes {
		if themes[i].name == t {
			return &themes[i]
		}
	}
	return &themes[0]
}
