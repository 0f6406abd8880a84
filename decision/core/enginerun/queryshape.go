package enginerun

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
)

// shapeBytes is how much of the hash of a query is shown.
const shapeBytes = 6

var (
	// ignored are comments, literals and white space, the earliest of which in the text comes first: a string may contain what looks like a
	// comment, and the other way round. Names in quotation marks stay.
	ignored = regexp.MustCompile(`(?s)"(?:[^"]|"")*"|--[^\n]*|/\*.*?\*/|[xXuU]?&?'(?:[^']|'')*'|\b\d+(?:\.\d*)?(?:[eE][-+]?\d+)?\b|\s+`)
	// lists are values that are compared with, or rows that are inserted: their number is not that of the query.
	lists = regexp.MustCompile(`\?(?: ?, ?\?)+`)
	rows  = regexp.MustCompile(`\( ?\? ?\)(?: ?, ?\( ?\? ?\))+`)
)

// queryShape is a short hash of a query that is the same for those that differ by literals, comments, case and white space alone.
func queryShape(text string) string {
	sum := sha256.Sum256([]byte(template(text)))
	return hex.EncodeToString(sum[:shapeBytes])
}

// template is a query in which literals are question marks.
func template(text string) string {
	text = ignored.ReplaceAllStringFunc(text, func(part string) string {
		switch {
		case part[0] == '"':
			return part
		case strings.HasPrefix(part, "--"), strings.HasPrefix(part, "/*"), strings.TrimSpace(part) == "":
			return " "
		}
		return "?"
	})
	text = strings.ToLower(strings.Join(strings.Fields(text), " "))
	return rows.ReplaceAllLiteralString(lists.ReplaceAllLiteralString(text, "?"), "(?)")
}
