package printer

import (
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// Role is what a piece of text means; the style decides how that looks.
type Role int

const (
	// Plain text.
	Plain Role = iota
	// Header of a table.
	Header
	// Strong is the answer itself.
	Strong
	// Dim is what a reader may skip.
	Dim
	// Good is as it should be.
	Good
	// Warn works less well than it could.
	Warn
	// Bad does not work.
	Bad
	// Prod is used by prod pods.
	Prod
	// ProdReserved is requested by prod pods and not used.
	ProdReserved
	// Mid is held by mid pods.
	Mid
	// Batch is used by batch pods.
	Batch
	// BatchFree is offered to batch pods and not used.
	BatchFree
	// System is used by what is no pod.
	System
	// Idle is not requested by any pod.
	Idle
	// Borrowed is used beyond what is guaranteed.
	Borrowed
	// Asked is requested beyond what may be used.
	Asked
)

// Style decides colours and glyphs, the only place that does. The zero value has no colour and uses Unicode.
type Style struct {
	// Color adds ANSI colours of the terminal's own palette.
	Color bool
	// ASCII keeps to 7-bit glyphs.
	ASCII bool
}

var looks = map[Role]ansi.Style{
	Header:       ansi.NewStyle().Bold(),
	Strong:       ansi.NewStyle().Bold(),
	Dim:          ansi.NewStyle().Faint(),
	Good:         ansi.NewStyle().ForegroundColor(ansi.Green),
	Warn:         ansi.NewStyle().ForegroundColor(ansi.Yellow),
	Bad:          ansi.NewStyle().ForegroundColor(ansi.Red),
	Prod:         ansi.NewStyle().ForegroundColor(ansi.Blue),
	ProdReserved: ansi.NewStyle().ForegroundColor(ansi.BrightBlue),
	Mid:          ansi.NewStyle().ForegroundColor(ansi.Magenta),
	Batch:        ansi.NewStyle().ForegroundColor(ansi.Green),
	BatchFree:    ansi.NewStyle().ForegroundColor(ansi.BrightGreen),
	System:       ansi.NewStyle().ForegroundColor(ansi.Yellow),
	Idle:         ansi.NewStyle().Faint(),
	Borrowed:     ansi.NewStyle().ForegroundColor(ansi.Blue),
	Asked:        ansi.NewStyle().ForegroundColor(ansi.Yellow),
}

// Paint returns the text in the look of its role. Empty text stays empty.
func (s Style) Paint(role Role, text string) string {
	look, ok := looks[role]
	if !s.Color || !ok || text == "" {
		return text
	}
	return look.Styled(text)
}

// barGlyphs tell the areas of a bar apart without colour.
var barGlyphs = map[Role][2]string{
	Prod:         {"█", "P"},
	ProdReserved: {"▒", "p"},
	Mid:          {"▓", "M"},
	Batch:        {"■", "B"},
	BatchFree:    {"□", "b"},
	System:       {"▚", "S"},
	Idle:         {"·", "."},
	Good:         {"█", "#"},
	Bad:          {"░", "-"},
	Strong:       {"█", "="},
	Borrowed:     {"▓", "+"},
	Asked:        {"▒", "?"},
}

// Bar returns width cells in the glyph and look of a role; nothing for a width under one.
func (s Style) Bar(role Role, width int) string {
	if width < 1 {
		return ""
	}
	glyphs, ok := barGlyphs[role]
	if !ok {
		glyphs = [2]string{"█", "#"}
	}
	return s.Paint(role, strings.Repeat(s.pick(glyphs), width))
}

// Ellipsis marks text that was cut.
func (s Style) Ellipsis() string { return s.pick([2]string{"…", "~"}) }

// Bullet begins an item of a list.
func (s Style) Bullet() string { return s.pick([2]string{"•", "*"}) }

// Arrow points from a cause to an effect.
func (s Style) Arrow() string { return s.pick([2]string{"→", "->"}) }

// Border is a vertical line.
func (s Style) Border() string { return s.pick([2]string{"│", "|"}) }

// Endless stands for an amount without a limit.
func (s Style) Endless() string { return s.pick([2]string{"∞", "inf"}) }

// Branch joins a child of a tree to its parent.
func (s Style) Branch(last bool) string {
	if last {
		return s.pick([2]string{"└─ ", "`- "})
	}
	return s.pick([2]string{"├─ ", "|- "})
}

// Stem is the part of a line below one that Branch drew.
func (s Style) Stem(last bool) string {
	if last {
		return "   "
	}
	return s.Border() + "  "
}

// Mark is the glyph beside a word that is good, a warning or bad, so that colour never stands alone.
func (s Style) Mark(role Role) string {
	switch role {
	case Good:
		return s.Paint(role, s.pick([2]string{"✓", "+"}))
	case Warn:
		return s.Paint(role, s.pick([2]string{"▲", "!"}))
	case Bad:
		return s.Paint(role, s.pick([2]string{"✗", "x"}))
	default:
		return s.Bullet()
	}
}

func (s Style) pick(glyphs [2]string) string {
	if s.ASCII {
		return glyphs[1]
	}
	return glyphs[0]
}

// Clean makes text from the cluster safe for a terminal: escape sequences are removed and other control characters,
// which could move the cursor or forge lines, become spaces. With ASCII, whatever is beyond 7 bits becomes a question
// mark.
func (s Style) Clean(text string) string {
	if !needsCleaning(text, s.ASCII) {
		return text
	}
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r), unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp):
			return ' '
		case s.ASCII && r > unicode.MaxASCII:
			return '?'
		default:
			return r
		}
	}, ansi.Strip(strings.ToValidUTF8(text, "?")))
}

func needsCleaning(text string, asciiOnly bool) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c == 0x7f || c >= 0x80 {
			return c < ' ' || c == 0x7f || asciiOnly || !printable(text[i:])
		}
	}
	return false
}

func printable(text string) bool {
	for _, r := range text {
		if r == unicode.ReplacementChar || unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) {
			return false
		}
	}
	return true
}
