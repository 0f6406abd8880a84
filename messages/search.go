package messages

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of a search, whatever text comes from a cluster.
const (
	// longest is the length of a text, in bytes, up to which formats are tried.
	longest = 2 << 10
	// deepest is how often a text may stand in another.
	deepest = 12
	// most is how many texts are looked for in one.
	most = 200
)

// search for the translation of one text.
type search struct {
	catalogue *catalogue
	// left is how many more texts may be looked for.
	left int
}

// translate a text, and say whether it was known.
func (c *catalogue) translate(english string) (string, bool) {
	return (&search{catalogue: c, left: most}).text(english, deepest)
}

// text translates, and says whether it knew the text.
func (s *search) text(english string, depth int) (string, bool) {
	if translated, ok := s.catalogue.exact[english]; ok {
		return translated, true
	}
	if depth == 0 || s.left == 0 || len(english) > longest {
		return english, false
	}
	s.left--
	if translated, known := s.ended(english, depth-1); known {
		return translated, true
	}
	// Formats that begin with a word are tried before those that begin with what is put into them.
	first := firstWord(english)
	for _, word := range []string{first, ""} {
		for _, f := range s.catalogue.formats[word] {
			if arguments, ok := f.match(english); ok {
				if translated, known := s.fill(f, arguments, depth-1); known {
					return translated, true
				}
			}
		}
		if first == "" {
			break
		}
	}
	return s.parts(english, depth-1)
}

// fill puts the arguments into the translation; those that are messages are translated too. One that is not known says that the format is the
// wrong one, unless that is telling.
func (s *search) fill(f *format, arguments []string, depth int) (string, bool) {
	var b strings.Builder
	for _, p := range f.pieces {
		appendSpaced(&b, p.text)
		if p.argument < 0 {
			continue
		}
		argument := arguments[p.argument]
		if f.verbs[p.argument] == 'v' {
			var known bool
			if argument, known = s.message(argument, depth); !known && !f.telling() && strings.Contains(argument, " ") {
				return "", false
			}
		}
		appendSpaced(&b, argument)
	}
	return b.String(), true
}

// message is what was put into a format. Of a list there, the texts that are known are translated; names stay.
func (s *search) message(english string, depth int) (string, bool) {
	translated, known := s.text(english, depth)
	items := split(english)
	if known || len(items) < 2 {
		return translated, known
	}
	if !slices.ContainsFunc(items, func(item string) bool { return strings.Contains(item, " ") }) {
		return english, true
	}
	for i, item := range items {
		if !strings.Contains(item, " ") {
			continue // a name
		}
		var one bool
		items[i], one = s.text(item, depth)
		known = known || one
	}
	if !known {
		return english, false
	}
	return strings.Join(items, "，"), true
}

// appendSpaced puts a space between a Chinese character and a Latin letter or a digit, as is usual.
func appendSpaced(b *strings.Builder, text string) {
	last, _ := utf8.DecodeLastRuneInString(b.String())
	first, _ := utf8.DecodeRuneInString(text)
	if b.Len() > 0 && text != "" && (unicode.Is(unicode.Han, last) && latin(first) || latin(last) && unicode.Is(unicode.Han, first)) {
		b.WriteByte(' ')
	}
	b.WriteString(text)
}

func latin(r rune) bool { return r <= unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) }
