package picture

import (
	"fmt"
	"strings"
)

// rect is a rectangle of one colour, relative to the start of its line's base.
type rect struct {
	x, y, w, h float64
}

// fill is what rectangles that are drawn as one path have in common.
type fill struct {
	class   string
	opacity float64
}

// layer is the rectangles of a line that do not overlap, by fill, in the order in which fills were first used.
type layer struct {
	rects map[fill][]rect
	order []fill
}

// add grows the last rectangle of its fill where the new one continues it.
func (l *layer) add(f fill, r rect) {
	if l.rects == nil {
		l.rects = map[fill][]rect{}
	}
	rects := l.rects[f]
	if len(rects) == 0 {
		l.order = append(l.order, f)
	} else if last := &rects[len(rects)-1]; last.y == r.y && last.h == r.h && abs(last.x+last.w-r.x) < 0.001 {
		last.w += r.w
		return
	}
	l.rects[f] = append(rects, r)
}

func (l *layer) write(b *strings.Builder) {
	for _, f := range l.order {
		fmt.Fprintf(b, `<path class="%s"`, f.class)
		if f.opacity < 1 {
			fmt.Fprintf(b, ` fill-opacity="%s"`, number(f.opacity))
		}
		b.WriteString(` d="`)
		for _, r := range l.rects[f] {
			fmt.Fprintf(b, "M%s %sh%sv%sh-%sz", number(r.x), number(r.y), number(r.w), number(r.h), number(r.w))
		}
		b.WriteString("\"/>\n")
	}
}

// drawLine returns backgrounds, block characters and words of a line, from its left end at the height where text stands; nothing for a line
// that shows nothing.
func drawLine(line []cell, colors *classes) string {
	var behind, blocks layer
	for i, c := range line {
		x := float64(i) * cellWidth
		fg, bg := c.colors()
		if bg != paper {
			behind.add(fill{colors.name(bg), 1}, rect{x, -baseline, cellWidth, cellHeight})
		}
		boxes, opacity := shape(c.rune())
		for _, b := range boxes {
			blocks.add(fill{colors.name(fg), opacity}, rect{x + b.x*cellWidth, b.y*cellHeight - baseline, b.w * cellWidth, b.h * cellHeight})
		}
	}
	var out strings.Builder
	behind.write(&out)
	blocks.write(&out)
	for i := 0; i < len(line); {
		n := word(line[i:])
		if n > 0 {
			drawWord(&out, line[i:i+n], float64(i)*cellWidth, colors)
		}
		i += max(n, 1)
	}
	return out.String()
}

// word is how many cells at the start of a line are drawn as one text: ASCII of one look, with single spaces in between, or a single other
// character.
func word(line []cell) int {
	if !line[0].visible() {
		return 0
	}
	if !line[0].plain() {
		n := 1
		for n < len(line) && line[n].text == "" {
			n++
		}
		return n
	}
	continues := func(n int) bool {
		return n < len(line) && line[n].visible() && line[n].plain() && line[n].look == line[0].look
	}
	n := 1
	for continues(n) || n < len(line) && line[n].text == " " && line[n].look == line[0].look && continues(n+1) {
		n++
	}
	return n
}

// drawWord draws a word; its length is fixed, so that no font moves what stands to its right.
func drawWord(out *strings.Builder, word []cell, x float64, colors *classes) {
	var text strings.Builder
	for _, c := range word {
		text.WriteString(c.text)
	}
	fg, _ := word[0].colors()
	length := float64(len(word)) * cellWidth
	place := fmt.Sprintf(`x="%s"`, number(x))
	switch {
	case !word[0].plain():
		// Symbols may come from another font: centred, never stretched.
		place = fmt.Sprintf(`x="%s" text-anchor="middle"`, number(x+length/2))
	case len(word) > 1:
		place += fmt.Sprintf(` textLength="%s"`, number(length))
	}
	fmt.Fprintf(out, `<text class="%s%s" %s>%s</text>`+"\n", colors.name(fg), word[0].attributes(), place, escape(text.String()))
}

// attributes are the classes of the text of a look other than its colour.
func (l look) attributes() string {
	out := ""
	if l.bold {
		out += " b"
	}
	if l.italic {
		out += " i"
	}
	switch {
	case l.underline && l.strike:
		out += " us"
	case l.underline:
		out += " u"
	case l.strike:
		out += " s"
	}
	return out
}
