package picture

import (
	"image/color"
	"unicode/utf8"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/vt"
)

// look is how a cell is drawn. A nil colour is the terminal's own.
type look struct {
	fg, bg                                           color.Color
	bold, faint, italic, underline, strike, reversed bool
}

// cell is one character of the screen. The right half of a wide character is a cell without text.
type cell struct {
	text string
	look
}

// screen is the lines of a terminal, from the top.
type screen [][]cell

// take returns what a terminal shows, with its cursor as a cell in reverse.
func take(terminal *vt.Emulator) screen {
	out := make(screen, terminal.Height())
	for y := range out {
		out[y] = make([]cell, terminal.Width())
		for x := range out[y] {
			out[y][x] = cellOf(terminal.CellAt(x, y))
		}
	}
	if cursor := terminal.CursorPosition(); !terminal.CursorHidden() && cursor.Y < len(out) && cursor.X < len(out[cursor.Y]) {
		at := &out[cursor.Y][cursor.X]
		at.reversed = !at.reversed
	}
	return out
}

func cellOf(c *uv.Cell) cell {
	if c == nil {
		return cell{}
	}
	has := func(attribute uint8) bool { return c.Style.Attrs&attribute != 0 }
	return cell{text: c.Content, look: look{
		fg: c.Style.Fg, bg: c.Style.Bg, underline: c.Style.Underline != uv.UnderlineNone,
		bold: has(uv.AttrBold), faint: has(uv.AttrFaint), italic: has(uv.AttrItalic), strike: has(uv.AttrStrikethrough), reversed: has(uv.AttrReverse),
	}}
}

// rune is the character of a cell, 0 when it has none or is a cluster of several.
func (c cell) rune() rune {
	r, n := utf8.DecodeRuneInString(c.text)
	if n != len(c.text) || n == 0 {
		return 0
	}
	return r
}

func (c cell) ascii() bool { return len(c.text) == 1 && c.text[0] < utf8.RuneSelf }

// visible is true for a cell whose character is drawn as text.
func (c cell) visible() bool {
	boxes, _ := shape(c.rune())
	return c.text != "" && c.text != " " && len(boxes) == 0
}

// plain is true for a cell that may stand in the same text as its neighbours: ASCII, of which a font has every character.
func (c cell) plain() bool { return c.ascii() && c.text >= " " && c.text <= "~" }
