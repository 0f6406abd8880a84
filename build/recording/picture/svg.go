// Package picture draws what a terminal showed over time as an SVG that moves by itself, without scripts, so that it can stand in a page
// where only images can. Text stays text.
package picture

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"koordinator.sh/koord/build/recording/cast"
)

// Sizes in SVG user units.
const (
	cellWidth  = 8.0
	cellHeight = 17.0
	fontSize   = 13.3
	// baseline is where text stands in its cell, from the top.
	baseline = 13.0
	margin   = 14.0
	bar      = 32.0
)

// fonts that readers are likely to have, all of them monospaced.
const fonts = `ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono","Liberation Mono",monospace`

// film is an SVG under construction. Frames stand side by side behind a window that shows one, and consist of references to lines, which are
// defined once: most lines are the same in many frames.
type film struct {
	colors classes
	// lines are the names of the lines that are defined.
	lines         map[string]string
	defs, strip   bytes.Buffer
	width, height float64
}

// Draw returns the SVG of a recording. The same recording gives the same bytes.
func Draw(r cast.Recording) ([]byte, error) {
	shots := frames(r)
	if len(shots) == 0 {
		return nil, fmt.Errorf("recording %q shows nothing", r.Title)
	}
	f := &film{lines: map[string]string{}, width: float64(r.Columns) * cellWidth, height: float64(r.Rows) * cellHeight}
	for i, shot := range shots {
		f.add(i, shot.screen)
	}
	width, height := f.width+2*margin, f.height+bar+margin*1.5
	var out bytes.Buffer
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]s %[2]s" width="%[1]s" height="%[2]s" role="img" aria-label="%[3]s">`+"\n",
		number(width), number(height), escape(r.Title))
	fmt.Fprintf(&out, "<style>\n%s%s</style>\n", f.style(), f.play(shots))
	window(&out, width, height, r.Title)
	fmt.Fprintf(&out, "<defs>\n%s</defs>\n", f.defs.String())
	// Where nothing moves, the last frame is shown.
	fmt.Fprintf(&out, `<svg x="%s" y="%s" width="%s" height="%s"><g class="f" transform="translate(-%s)">`+"\n%s</g></svg>\n</svg>\n",
		number(margin), number(bar+margin/2), number(f.width), number(f.height), number(float64(len(shots)-1)*f.width), f.strip.String())
	return out.Bytes(), nil
}

// add appends a frame to the strip.
func (f *film) add(i int, shown screen) {
	fmt.Fprintf(&f.strip, `<g transform="translate(%s)">`+"\n", number(float64(i)*f.width))
	for y, line := range shown {
		drawn := drawLine(line, &f.colors)
		if drawn == "" {
			continue
		}
		name, known := f.lines[drawn]
		if !known {
			name = fmt.Sprintf("l%d", len(f.lines))
			f.lines[drawn] = name
			fmt.Fprintf(&f.defs, "<g id=\"%s\">\n%s</g>\n", name, drawn)
		}
		fmt.Fprintf(&f.strip, `<use href="#%s" y="%s"/>`+"\n", name, number(float64(y)*cellHeight+baseline))
	}
	f.strip.WriteString("</g>\n")
}

func (f *film) style() string {
	var b strings.Builder
	fmt.Fprintf(&b, "text{font-family:%s;font-size:%spx;white-space:pre}\n", fonts, number(fontSize))
	b.WriteString("path{shape-rendering:crispEdges}.b{font-weight:700}.i{font-style:italic}.u{text-decoration:underline}" +
		".s{text-decoration:line-through}.us{text-decoration:underline line-through}\n")
	for _, c := range f.colors.order {
		fmt.Fprintf(&b, ".%s{fill:%s}", f.colors.name(c), hex(c))
	}
	return b.String() + "\n"
}

// play moves the strip by a frame at a time. Readers who asked their system for less motion see the last frame only.
func (f *film) play(shots []frame) string {
	if len(shots) == 1 {
		return ""
	}
	length := shots[len(shots)-1].at + lastFor
	var b strings.Builder
	fmt.Fprintf(&b, ".f{animation:play %ss step-end infinite}\n@keyframes play{", number(length.Seconds()))
	for i, shot := range shots {
		at := 0.0
		if i > 0 {
			at = 100 * shot.at.Seconds() / length.Seconds()
		}
		fmt.Fprintf(&b, "%s%%{transform:translateX(-%spx)}", number(at), number(float64(i)*f.width))
	}
	fmt.Fprintf(&b, "}\n@media(prefers-reduced-motion:reduce){.f{animation:none}}\n")
	return b.String()
}

// window draws the window that the terminal is in.
func window(out *bytes.Buffer, width, height float64, title string) {
	fmt.Fprintf(out, `<rect x="0.5" y="0.5" width="%s" height="%s" rx="9" fill="%s" stroke="%s"/>`+"\n", number(width-1), number(height-1), hex(paper), edgeColor)
	fmt.Fprintf(out, `<path d="M1 %[1]s V9.5 a8.5 8.5 0 0 1 8.5 -8.5 H%[2]s a8.5 8.5 0 0 1 8.5 8.5 V%[1]s Z" fill="%[3]s" style="shape-rendering:auto"/>`+"\n",
		number(bar-4), number(width-9.5), frameColor)
	for i, fill := range []string{"#ff5f57", "#febc2e", "#28c840"} {
		fmt.Fprintf(out, `<circle cx="%d" cy="14" r="5.5" fill="%s"/>`+"\n", 20+i*20, fill)
	}
	fmt.Fprintf(out, `<text x="%s" y="19" text-anchor="middle" fill="%s">%s</text>`+"\n", number(width/2), titleColor, escape(title))
}

func abs(x float64) float64 { return max(x, -x) }

// number is short: two decimals at most.
func number(x float64) string {
	s := strings.TrimRight(strconv.FormatFloat(x, 'f', 2, 64), "0")
	if s = strings.TrimSuffix(s, "."); s == "-0" {
		return "0"
	}
	return s
}

// escape returns text for an element or an attribute; control characters and what XML cannot carry become U+FFFD.
func escape(s string) string {
	inert := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(inert)) // a Builder never fails
	return b.String()
}
