// Package line edits one line of text with the keys of a shell. It exists because the text input of bubbles looks for
// clipboard programs when a process starts, which every command of koordctl would pay for.
package line

import (
	"strings"
	"unicode"
)

// MaxRunes bounds a line.
const MaxRunes = 1024

// Editor is a line and a cursor in it. The zero value is empty.
type Editor struct {
	runes    []rune
	position int
}

// Value is the text.
func (e *Editor) Value() string { return string(e.runes) }

// Position of the cursor, in runes from the start.
func (e *Editor) Position() int { return e.position }

// AtEnd reports whether the cursor is behind the last rune.
func (e *Editor) AtEnd() bool { return e.position == len(e.runes) }

// Set replaces the text and puts the cursor at its end.
func (e *Editor) Set(text string) {
	e.runes, e.position = nil, 0
	e.Insert(text)
}

// Insert puts text at the cursor. Line breaks and tabs become spaces, other control characters are left out, and what
// exceeds MaxRunes is cut off.
func (e *Editor) Insert(text string) {
	clean := []rune(strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case unicode.IsControl(r):
			return -1
		}
		return r
	}, text))
	clean = clean[:min(len(clean), MaxRunes-len(e.runes))]
	tail := append(clean, e.runes[e.position:]...)
	e.runes = append(e.runes[:e.position:e.position], tail...)
	e.position += len(clean)
}

// Press does what a key means in a line, as bash binds it; false when it means nothing there.
func (e *Editor) Press(key string) bool {
	switch key {
	case "left", "ctrl+b":
		e.position = max(e.position-1, 0)
	case "right", "ctrl+f":
		e.position = min(e.position+1, len(e.runes))
	case "home", "ctrl+a":
		e.position = 0
	case "end", "ctrl+e":
		e.position = len(e.runes)
	case "backspace", "ctrl+h":
		e.cut(max(e.position-1, 0), e.position)
	case "delete", "ctrl+d":
		e.cut(e.position, min(e.position+1, len(e.runes)))
	case "ctrl+w", "alt+backspace":
		e.cut(e.wordStart(), e.position)
	case "ctrl+u":
		e.cut(0, e.position)
	case "ctrl+k":
		e.cut(e.position, len(e.runes))
	default:
		return false
	}
	return true
}

func (e *Editor) cut(from, to int) {
	e.runes = append(e.runes[:from:from], e.runes[to:]...)
	e.position = from
}

// wordStart is where the word before the cursor begins.
func (e *Editor) wordStart() int {
	at := e.position
	for at > 0 && e.runes[at-1] == ' ' {
		at--
	}
	for at > 0 && e.runes[at-1] != ' ' {
		at--
	}
	return at
}
