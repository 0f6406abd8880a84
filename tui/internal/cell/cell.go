// Package cell measures and cuts styled text by terminal cells. It is the only place where the workbench does width
// arithmetic on text.
package cell

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

const spaces = "                                                                                                    "

// Blank returns n spaces, none for a negative n.
func Blank(n int) string {
	if n <= 0 {
		return ""
	}
	if n <= len(spaces) {
		return spaces[:n]
	}
	return strings.Repeat(" ", n)
}

// Width is the number of cells the text takes, escape sequences not counted.
func Width(text string) int {
	if n, ok := quickWidth(text); ok {
		return n
	}
	return ansi.StringWidth(text)
}

// quickWidth measures what the workbench itself draws: ASCII, its own glyphs and colours. False means that something
// else is in the text.
func quickWidth(text string) (int, bool) {
	n := 0
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c >= 0x20 && c <= 0x7e:
			n, i = n+1, i+1
		case c == 0x1b:
			end := colourEnd(text[i:])
			if end == 0 {
				return 0, false
			}
			i += end
		default:
			r, size := utf8.DecodeRuneInString(text[i:])
			if !narrow(r) {
				return 0, false
			}
			n, i = n+1, i+size
		}
	}
	return n, true
}

// colourEnd is the length of the colour sequence that the text begins with; 0 when it is another one.
func colourEnd(text string) int {
	if len(text) < 2 || text[1] != '[' {
		return 0
	}
	for i := 2; i < len(text); i++ {
		switch c := text[i]; {
		case c == 'm':
			return i + 1
		case c != ';' && (c < '0' || c > '9'):
			return 0
		}
	}
	return 0
}

// narrow reports whether the rune is one of those that the workbench draws: a box or block drawing, a geometric shape, or another of its marks.
func narrow(r rune) bool {
	return (r >= 0x2500 && r <= 0x25fc) || strings.ContainsRune("…·↑↓→✓✗−×≤≥", r)
}

func plain(text string) bool {
	for i := range len(text) {
		if text[i] < 0x20 || text[i] > 0x7e {
			return false
		}
	}
	return true
}

// Clean replaces control characters and line breaks, so that text from a cluster cannot move the cursor.
func Clean(text string) string {
	if plain(text) {
		return text
	}
	return strings.Map(func(r rune) rune {
		if r < 0x20 || (r >= 0x7f && r < 0xa0) {
			return ' '
		}
		return r
	}, text)
}

// Truncate cuts the text to at most width cells, ending in tail where something was cut off.
func Truncate(text string, width int, tail string) string {
	if width <= 0 {
		return ""
	}
	if Width(text) <= width {
		return text
	}
	if plain(text) && len(tail) > 0 {
		return text[:width-1] + tail
	}
	return ansi.Truncate(text, width, tail)
}

// Middle cuts the text to at most width cells and keeps both ends of it, with mark between them: names that a controller makes up differ
// in their last characters. A width that has no room for both ends keeps the first.
func Middle(text string, width int, mark string) string {
	room := width - Width(mark)
	last := room * 2 / 5
	if Width(text) <= width || last < 3 {
		return Truncate(text, width, mark)
	}
	end := ansi.TruncateLeft(text, Width(text)-last, "")
	return ansi.Truncate(text, width-Width(end), mark) + end
}

// Left is the text cut or padded on the right to exactly width cells.
func Left(text string, width int, tail string) string {
	text = Truncate(text, width, tail)
	padded := text + Blank(width-Width(text))
	if plain(text) {
		return padded
	}
	// A character that joins the one after it, such as U+0603, takes the first blank into its own cell.
	return padded + Blank(width-Width(padded))
}

// Right is the text cut or padded on the left to exactly width cells.
func Right(text string, width int, tail string) string {
	text = Truncate(text, width, tail)
	return Blank(width-Width(text)) + text
}

// Wrap breaks plain text into lines of at most width cells, at spaces where it can.
func Wrap(text string, width int) []string {
	if width <= 0 {
		return nil
	}
	var out []string
	for line := range strings.SplitSeq(ansi.Wrap(Clean(text), width, " -"), "\n") {
		if Width(line) > width { // a break point that is alone on its line
			line = ansi.Hardwrap(line, width, true)
		}
		out = append(out, strings.Split(line, "\n")...)
	}
	return out
}

// Fold breaks plain text into lines of at most width cells wherever the width is reached. All but the first begin with
// indent blanks, which have to leave room.
func Fold(text string, width, indent int) []string {
	var out []string
	lead := ""
	for room := width; Width(text) > room && room > 0; room = width - indent {
		part := ansi.Truncate(text, room, "")
		if part == "" { // not even one rune has room
			break
		}
		out = append(out, lead+part)
		text, lead = text[len(part):], Blank(indent)
	}
	return append(out, lead+Truncate(text, width-len(lead), ""))
}

// Spread puts left and right at the two ends of a line of width cells. What does not fit is cut, the right end first
// dropped whole where the left leaves no room for a part of it.
func Spread(left, right string, width int, tail string) string {
	l, r := Width(left), Width(right)
	if l+r+1 <= width {
		return left + Blank(width-l-r) + right
	}
	if room := width - l - 1; room >= 8 {
		return left + " " + Left(right, room, tail)
	}
	return Left(left, width, tail)
}
