package messages

import (
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// What does not begin a line, and what does not end one.
const (
	closing = "，。；：、！？）》”’」"
	opening = "（《“‘「"
)

// Wrap breaks a text into lines of a width in cells: at spaces, and between Chinese characters, which have none. Words that are wider than
// a line are cut. Colours do not count.
func Wrap(text string, width int) []string {
	var lines []string
	var line strings.Builder
	used := 0
	for _, part := range unbroken(text) {
		space := ansi.StringWidth(part)
		if used > 0 && used+space > width && part != " " {
			lines = append(lines, strings.TrimRight(line.String(), " "))
			line.Reset()
			used = 0
		}
		if used == 0 && part == " " && len(lines) > 0 {
			continue
		}
		line.WriteString(part)
		used += space
	}
	lines = append(lines, strings.TrimRight(line.String(), " "))
	return strings.Split(ansi.Hardwrap(strings.Join(lines, "\n"), max(width, 2), true), "\n")
}

// unbroken divides a text into what stays on one line: a space, a word, or a Chinese character, with the punctuation that belongs to it.
func unbroken(text string) []string {
	var parts []string
	var part strings.Builder
	end := func() {
		if part.Len() > 0 {
			parts = append(parts, part.String())
			part.Reset()
		}
	}
	var last rune
	for _, r := range text {
		if r == ' ' || !strings.ContainsRune(closing, r) && !strings.ContainsRune(opening, last) && (chineseText(r) || chineseText(last)) || last == ' ' {
			end()
		}
		part.WriteRune(r)
		last = r
	}
	end()
	return parts
}

func chineseText(r rune) bool {
	return unicode.Is(unicode.Han, r) || strings.ContainsRune(closing, r) || strings.ContainsRune(opening, r)
}
