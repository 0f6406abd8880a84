package machine

import (
	"bytes"
	"errors"
	"math"
)

// errNoNumber is for content that has no number where one belongs.
var errNoNumber = errors.New("no number")

// leadingNumber reads the decimal number that text begins with, after blanks, and returns what follows it. Numbers beyond the
// largest integer are that.
func leadingNumber(text []byte) (int64, []byte, error) {
	text = bytes.TrimLeft(text, " \t")
	var value int64
	digits := 0
	for digits < len(text) && text[digits] >= '0' && text[digits] <= '9' {
		digit := int64(text[digits] - '0')
		if value > (math.MaxInt64-digit)/10 {
			value = math.MaxInt64
		} else {
			value = value*10 + digit
		}
		digits++
	}
	if digits == 0 {
		return 0, text, errNoNumber
	}
	return value, text[digits:], nil
}

// field reads the number after a name at the beginning of a line: "name 12" or "name: 12 kB".
func field(content []byte, name string) (int64, error) {
	for line := range bytes.Lines(content) {
		if len(line) <= len(name) || string(line[:len(name)]) != name {
			continue
		}
		if next := line[len(name)]; next == ' ' || next == ':' || next == '\t' {
			value, _, err := leadingNumber(line[len(name)+1:])
			return value, err
		}
	}
	return 0, errNoNumber
}
