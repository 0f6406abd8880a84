package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/color"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Sizes in SVG user units.
const (
	cellWidth  = 8.4
	cellHeight = 18.0
	fontSize   = 14.0
	// baseline is where text stands in its cell, from the top.
	baseline = 13.5
	margin   = 14.0
	bar      = 32.0
)

// Colours of the terminal itself.
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

// fonts that readers are likely to have, all of them monospaced.
const fonts = `ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", "Liberation Mono", monospace`

// picture is an SVG under construction: rectangles below, text above.
type picture struct {
	rects, texts bytes.Buffer
	// last is the rectangle not written yet: one to its right with the same look grows it.
	last rect
}

type rect struct {
	x, y, w, h float64
	fill       string
	opacity    float64
}

// draw returns the SVG of a screen in a window frame. The same screen gives the same bytes.
func draw(s screen, title string) []byte {
	p := new(picture)
	for y, line := range s {
		p.line(line, margin, bar+margin/2+float64(y)*cellHeight)
	}
	p.flush()
	width := 2*margin + float64(s.width())*cellWidth
	height := bar + margin*1.5 + float64(len(s))*cellHeight
	var out bytes.Buffer
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]s %[2]s" width="%[1]s" height="%[2]s" role="img" aria-label="%[3]s">`+"\n",
		number(width), number(height), escape(title))
	fmt.Fprintf(&out, "<style>text{font-family:%s;font-size:%spx;white-space:pre}.b{font-weight:700}.i{font-style:italic}</style>\n", fonts, number(fontSize))
	frame(&out, width, height, title)
	fmt.Fprintf(&out, "<g shape-rendering=\"crispEdges\">\n%s</g>\n%s</svg>\n", p.rects.String(), p.texts.String())
	return out.Bytes()
}

func frame(out *bytes.Buffer, width, height float64, title string) {
	fmt.Fprintf(out, `<rect x="0.5" y="0.5" width="%s" height="%s" rx="9" fill="%s" stroke="%s"/>`+"\n", number(width-1), number(height-1), hex(paper), edgeColor)
	fmt.Fprintf(out, `<path d="M1 %[1]s V9.5 a8.5 8.5 0 0 1 8.5 -8.5 H%[2]s a8.5 8.5 0 0 1 8.5 8.5 V%[1]s Z" fill="%[3]s"/>`+"\n", number(bar-4), number(width-9.5), frameColor)
	for i, fill := range []string{"#ff5f57", "#febc2e", "#28c840"} {
		fmt.Fprintf(out, `<circle cx="%d" cy="14" r="5.5" fill="%s"/>`+"\n", 20+i*20, fill)
	}
	fmt.Fprintf(out, `<text x="%s" y="19" text-anchor="middle" fill="%s">%s</text>`+"\n", number(width/2), titleColor, escape(title))
}

// line draws backgrounds, block characters and words of one line.
func (p *picture) line(line []cell, x0, y float64) {
	at := func(i int) float64 { return x0 + float64(i)*cellWidth }
	for i, c := range line {
		_, bg := c.colors()
		if bg != paper {
			p.rect(rect{at(i), y, cellWidth, cellHeight, hex(bg), 1})
		}
	}
	p.flush()
	for i, c := range line {
		boxes, opacity := shape(c.rune())
		fg, _ := c.colors()
		for _, b := range boxes {
			p.rect(rect{at(i) + b.x*cellWidth, y + b.y*cellHeight, b.w * cellWidth, b.h * cellHeight, hex(fg), opacity})
		}
	}
	p.flush()
	for i := 0; i < len(line); {
		n := word(line[i:])
		if n > 0 {
			p.text(line[i:i+n], at(i), y+baseline)
		}
		i += max(n, 1)
	}
}

// word is how many cells at the start of a line are drawn as one text: ASCII of one look, or a single other character.
func word(line []cell) int {
	if !line[0].visible() {
		return 0
	}
	if !line[0].ascii() {
		n := 1
		for n < len(line) && line[n].text == "" {
			n++
		}
		return n
	}
	n := 1
	for n < len(line) && line[n].visible() && line[n].ascii() && line[n].look == line[0].look {
		n++
	}
	return n
}

// text draws a word; its length is fixed, so that no font moves what stands to its right.
func (p *picture) text(word []cell, x, y float64) {
	var b strings.Builder
	for _, c := range word {
		b.WriteString(c.text)
	}
	fg, _ := word[0].colors()
	length := float64(len(word)) * cellWidth
	attributes := fmt.Sprintf(`x="%s" textLength="%s"`, number(x), number(length))
	if !word[0].ascii() {
		// Symbols may come from another font: centred, never stretched.
		attributes = fmt.Sprintf(`x="%s" text-anchor="middle"`, number(x+length/2))
	}
	fmt.Fprintf(&p.texts, `<text %s y="%s" fill="%s"%s>%s</text>`+"\n", attributes, number(y), hex(fg), word[0].attributes(), escape(b.String()))
}

func (p *picture) rect(r rect) {
	l := &p.last
	if l.y == r.y && l.h == r.h && l.fill == r.fill && l.opacity == r.opacity && abs(l.x+l.w-r.x) < 0.001 {
		l.w += r.w
		return
	}
	p.flush()
	p.last = r
}

func (p *picture) flush() {
	r := p.last
	p.last = rect{}
	if r.fill == "" {
		return
	}
	opacity := ""
	if r.opacity < 1 {
		opacity = fmt.Sprintf(` fill-opacity="%s"`, number(r.opacity))
	}
	fmt.Fprintf(&p.rects, `<rect x="%s" y="%s" width="%s" height="%s" fill="%s"%s/>`+"\n", number(r.x), number(r.y), number(r.w), number(r.h), r.fill, opacity)
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

// attributes of the text of a look other than its colour.
func (l look) attributes() string {
	var classes, lines []string
	if l.bold {
		classes = append(classes, "b")
	}
	if l.italic {
		classes = append(classes, "i")
	}
	if l.underline {
		lines = append(lines, "underline")
	}
	if l.strike {
		lines = append(lines, "line-through")
	}
	out := ""
	if len(classes) > 0 {
		out += fmt.Sprintf(` class="%s"`, strings.Join(classes, " "))
	}
	if len(lines) > 0 {
		out += fmt.Sprintf(` text-decoration="%s"`, strings.Join(lines, " "))
	}
	return out
}

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
	if c == nil {
		return own
	}
	if i, ok := c.(ansi.IndexedColor); ok && int(i) < len(palette) {
		return palette[i]
	}
	r, g, b, _ := c.RGBA()
	return color.RGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), 0xff}
}

func mid(a, b uint8) uint8 { return uint8((int(a) + int(b)) / 2) }

func hex(c color.RGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

func abs(x float64) float64 { return max(x, -x) }

// number is short: two decimals at most.
func number(x float64) string {
	s := strings.TrimRight(strconv.FormatFloat(x, 'f', 2, 64), "0")
	return strings.TrimSuffix(s, ".")
}

// escape returns text for an element or an attribute; what XML cannot carry becomes U+FFFD.
func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder never fails
	return b.String()
}
