package main

import (
	"bytes"
	"fmt"
)

// Measures of the picture, in pixels.
const (
	plotWidth, barHeight, barGap = 640, 22, 10
	labelWidth, figureWidth      = 110, 90
)

// plot draws two groups of bars, latency and use, one bar for each situation.
func plot(results []result) []byte {
	const groupHeight = 34
	height := 2*(groupHeight+len(results)*(barHeight+barGap)) + 20
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="13">`+"\n", plotWidth, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="white"/>`+"\n", plotWidth, height)
	y := 10
	group := func(title, color string, value func(result) float64, text func(result) string) {
		fmt.Fprintf(&b, `<text x="10" y="%d" font-weight="bold">%s</text>`+"\n", y+16, title)
		y += groupHeight
		most := 0.0
		for _, r := range results {
			most = max(most, value(r))
		}
		for _, r := range results {
			width := int(value(r) / most * float64(plotWidth-labelWidth-figureWidth))
			fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%s</text>`+"\n", labelWidth-10, y+16, r.situation)
			fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>`+"\n", labelWidth, y, max(width, 1), barHeight, color)
			fmt.Fprintf(&b, `<text x="%d" y="%d">%s</text>`+"\n", labelWidth+width+8, y+16, text(r))
			y += barHeight + barGap
		}
	}
	group("99th percentile of a request's latency", "#c05030",
		func(r result) float64 { return milliseconds(r.P99) }, func(r result) string { return fmt.Sprintf("%.1f ms", milliseconds(r.P99)) })
	group("CPU of the node in use", "#3070a0",
		func(r result) float64 { return r.Used }, func(r result) string { return fmt.Sprintf("%.0f %%", 100*r.Used) })
	b.WriteString("</svg>")
	return b.Bytes()
}
