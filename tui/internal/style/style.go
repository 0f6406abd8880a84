package style

import (
	"image/color"
	"strings"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"koordinator.sh/koord/messages"
	"koordinator.sh/koord/tui/internal/cell"
)

const reset = "\x1b[m"

// Style is one way to write text: an escape sequence before it and a reset after it. The zero value writes it plainly.
type Style struct {
	prefix string
}

// Render returns the text in the style.
func (s Style) Render(text string) string {
	if s.prefix == "" || text == "" {
		return text
	}
	return s.prefix + text + reset
}

// Write appends the text in the style.
func (s Style) Write(b *strings.Builder, text string) {
	if text == "" {
		return
	}
	if s.prefix == "" {
		b.WriteString(text)
		return
	}
	b.WriteString(s.prefix)
	b.WriteString(text)
	b.WriteString(reset)
}

// Appearance is what the terminal can show.
type Appearance struct {
	// Profile of colours. ASCII and NoTTY mean no colour.
	Profile colorprofile.Profile
	// ASCII restricts output to the 95 printable characters.
	ASCII bool
	// Light is true on a light background.
	Light bool
	// Theme of the colours, where there are any.
	Theme Theme
	// Language of the texts; English when empty.
	Language messages.Language
}

// Colour reports whether the appearance has colours.
func (a Appearance) Colour() bool { return a.Profile > colorprofile.ASCII }

// Set is every style of the workbench for one appearance. It is immutable after New.
type Set struct {
	Appearance
	Glyphs
	// Areas are the glyphs and styles of the co-location areas.
	Areas AreaStyles

	Plain, Dim, Faint, Bold, Title, Accent, Key Style
	OK, Warn, Bad, Info, Badge                  Style

	selected *Set
	palette  palette
	onRow    color.Color
}

// Say is a text in the language of the reader. Spaces around it stay.
func (s *Set) Say(english string) string {
	if s.Language != messages.Chinese {
		return english
	}
	text := strings.TrimSpace(english)
	at := strings.Index(english, text)
	return english[:at] + s.Language.Text(text) + english[at+len(text):]
}

// Wrap breaks a text into lines of at most width cells, as its language is broken.
func (s *Set) Wrap(text string, width int) []string {
	if s.Language == messages.Chinese && width > 0 {
		return messages.Wrap(cell.Clean(text), width)
	}
	return cell.Wrap(text, width)
}

// On returns the set for a row that is, or is not, selected.
func (s *Set) On(selected bool) *Set {
	if selected {
		return s.selected
	}
	return s
}

// New returns the styles for an appearance.
func New(a Appearance) *Set {
	set := build(a, nil, false)
	set.selected = build(a, set.palette.selection, true)
	set.selected.selected = set.selected
	return set
}

func build(a Appearance, row color.Color, selected bool) *Set {
	p := paletteFor(a)
	s := &Set{Appearance: a, Glyphs: glyphsFor(a.ASCII), palette: p, onRow: row}
	base := func(fg color.Color, attrs ...ansi.Attr) Style {
		st := ansi.NewStyle(attrs...)
		if selected && !a.Colour() {
			st = st.Reverse(true)
		}
		if a.Colour() && fg != nil {
			st = st.ForegroundColor(fg)
		}
		if a.Colour() && row != nil {
			st = st.BackgroundColor(row)
		}
		if len(st) == 0 {
			return Style{}
		}
		return Style{prefix: st.String()}
	}
	s.Plain, s.Dim, s.Faint = base(p.text), base(p.dim), base(p.faint)
	if !a.Colour() {
		s.Faint = base(nil)
	}
	s.Bold, s.Title = base(p.text, ansi.AttrBold), base(p.accent, ansi.AttrBold)
	s.Accent, s.Key = base(p.accent), base(p.accent, ansi.AttrBold)
	s.OK, s.Info = base(p.ok), base(p.info)
	s.Warn, s.Bad = base(p.warn, ansi.AttrBold), base(p.bad, ansi.AttrBold)
	s.Badge = base(p.warn, ansi.AttrBold)
	s.Areas = areasFor(s, p)
	return s
}
