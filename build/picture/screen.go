package main

import (
	"image/color"

	"github.com/charmbracelet/x/ansi"
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

// width is the number of cells of the longest line.
func (s screen) width() int {
	widest := 0
	for _, line := range s {
		widest = max(widest, len(line))
	}
	return widest
}

// parse reads lines of text with SGR sequences, whose effect carries over line ends, as in a capture of tmux. Other escape
// sequences and control characters draw nothing and are left out. A last empty line is the end of the text, not a line.
func parse(capture string) screen {
	parser := ansi.NewParser()
	var (
		out   screen
		line  []cell
		now   look
		state byte
	)
	for rest := capture; rest != ""; {
		seq, width, n, next := ansi.DecodeSequence(rest, state, parser)
		rest, state = rest[n:], next
		switch {
		case seq == "\n":
			out, line = append(out, line), nil
		case width > 0:
			line = append(line, cell{text: seq, look: now})
			for range width - 1 {
				line = append(line, cell{look: now})
			}
		case len(seq) > 2 && ansi.Cmd(parser.Command()) == 'm':
			now = now.apply(parser.Params())
		}
	}
	if len(line) > 0 {
		out = append(out, line)
	}
	return out
}

// apply is the look after an SGR sequence (ECMA-48, 8.3.117).
func (l look) apply(params ansi.Params) look {
	if len(params) == 0 {
		return look{}
	}
	for i := 0; i < len(params); i++ {
		p := params[i].Param(0)
		if p == 38 || p == 48 || p == 58 {
			var c color.Color
			n := ansi.ReadStyleColor(params[i:], &c)
			if n == 0 {
				return l // not a colour: what follows cannot be distinguished
			}
			i += n - 1
			switch p {
			case 38:
				l.fg = c
			case 48:
				l.bg = c
			}
			continue
		}
		l = l.set(p)
	}
	return l
}

// set is the look after one SGR parameter that stands alone. Unknown ones change nothing.
func (l look) set(p int) look {
	switch {
	case p == 0:
		return look{}
	case p == 1, p == 2:
		l.bold, l.faint = l.bold || p == 1, l.faint || p == 2
	case p == 22:
		l.bold, l.faint = false, false
	case p == 3, p == 23:
		l.italic = p == 3
	case p == 4, p == 24:
		l.underline = p == 4
	case p == 7, p == 27:
		l.reversed = p == 7
	case p == 9, p == 29:
		l.strike = p == 9
	case p >= 30 && p <= 37:
		l.fg = ansi.IndexedColor(p - 30)
	case p == 39:
		l.fg = nil
	case p >= 40 && p <= 47:
		l.bg = ansi.IndexedColor(p - 40)
	case p == 49:
		l.bg = nil
	case p >= 90 && p <= 97:
		l.fg = ansi.IndexedColor(p - 90 + 8)
	case p >= 100 && p <= 107:
		l.bg = ansi.IndexedColor(p - 100 + 8)
	}
	return l
}
