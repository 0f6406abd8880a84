package picture

import (
	"fmt"
	"image/color"

	"github.com/charmbracelet/x/ansi"
)

// Colours of the terminal itself. It is dark on a page of either brightness.
var (
	paper = color.RGBA{0x12, 0x16, 0x1c, 0xff}
	ink   = color.RGBA{0xd5, 0xda, 0xe0, 0xff}
)

// palette are the 16 colours that every terminal chooses itself.
var palette = [16]color.RGBA{
	{0x2b, 0x31, 0x3a, 0xff}, {0xf0, 0x6c, 0x75, 0xff}, {0x98, 0xc3, 0x79, 0xff}, {0xe5, 0xc0, 0x7b, 0xff},
	{0x4f, 0x8f, 0xe0, 0xff}, {0xc6, 0x78, 0xdd, 0xff}, {0x56, 0xb6, 0xc2, 0xff}, {0xc8, 0xce, 0xd6, 0xff},
	{0x6b, 0x75, 0x82, 0xff}, {0xff, 0x8b, 0x92, 0xff}, {0xb5, 0xe0, 0x96, 0xff}, {0xff, 0xdb, 0x9a, 0xff},
	{0x7a, 0xb4, 0xff, 0xff}, {0xe0, 0x9c, 0xf5, 0xff}, {0x7c, 0xd8, 0xe2, 0xff}, {0xff, 0xff, 0xff, 0xff},
}

const (
	frameColor = "#1d232b"
	edgeColor  = "#333b45"
	titleColor = "#8b949e"
)

// colors are what a look comes to on this terminal. Faint text is half way to its background.
func (l look) colors() (fg, bg color.RGBA) {
	fg, bg = resolve(l.fg, ink), resolve(l.bg, paper)
	if l.reversed {
		fg, bg = bg, fg
	}
	if l.faint {
		fg = color.RGBA{mid(fg.R, bg.R), mid(fg.G, bg.G), mid(fg.B, bg.B), 0xff}
	}
	return fg, bg
}

func resolve(c color.Color, own color.RGBA) color.RGBA {
	switch c := c.(type) {
	case nil:
		return own
	case ansi.BasicColor:
		return palette[c%16]
	case ansi.IndexedColor:
		if int(c) < len(palette) {
			return palette[c]
		}
	}
	r, g, b, _ := c.RGBA()
	return color.RGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), 0xff}
}

func mid(a, b uint8) uint8 { return uint8((int(a) + int(b)) / 2) }

func hex(c color.RGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// classes are the colours of a picture, each named once in its style sheet.
type classes struct {
	names map[color.RGBA]string
	order []color.RGBA
}

func (c *classes) name(of color.RGBA) string {
	if name, known := c.names[of]; known {
		return name
	}
	if c.names == nil {
		c.names = map[color.RGBA]string{}
	}
	name := fmt.Sprintf("c%d", len(c.order))
	c.names[of], c.order = name, append(c.order, of)
	return name
}
