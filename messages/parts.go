package messages

import (
	"regexp"
	"strings"
)

// code ends many texts: the code of a finding.
var code = regexp.MustCompile(` \[KOORD\d{4}\]$`)

// ended translates a text with a code or a full stop behind it.
func (s *search) ended(english string, depth int) (string, bool) {
	if suffix := code.FindString(english); suffix != "" {
		translated, known := s.text(strings.TrimSuffix(english, suffix), depth)
		return translated + suffix, known
	}
	whole, ok := strings.CutSuffix(english, ".")
	if !ok {
		return english, false
	}
	translated, known := s.text(whole, depth)
	return translated + "。", known
}

// parts translates a text that is put together of others: clauses divided by semicolons, sentences, what it is about before it, or a list.
func (s *search) parts(english string, depth int) (string, bool) {
	if clauses := strings.Split(english, "; "); len(clauses) > 1 {
		return s.joined(clauses, "; ", "；", depth)
	}
	if sentences := strings.Split(english, ". "); len(sentences) > 1 {
		return s.joined(sentences, ". ", "。", depth)
	}
	if translated, known := s.named(english, depth); known {
		return translated, true
	}
	// A comma may stand anywhere, so that all items have to be known.
	items := split(english)
	if len(items) < 2 {
		return english, false
	}
	for i, item := range items {
		var known bool
		if items[i], known = s.text(item, depth); !known {
			return english, false
		}
	}
	return strings.Join(items, "，"), true
}

// joined translates those that are known, and what divides them; without any, the text stays.
func (s *search) joined(english []string, divided, by string, depth int) (string, bool) {
	some := false
	for i, part := range english {
		var known bool
		if english[i], known = s.text(part, depth); known {
			divided, some = by, true
		}
	}
	return strings.Join(english, divided), some
}

// named translates a text with what it is about before it: a word, such as a state or a resource, or a text of its own.
func (s *search) named(english string, depth int) (string, bool) {
	about, rest, found := strings.Cut(english, ": ")
	if !found {
		return english, false
	}
	subject, knownSubject := s.text(about, 1)
	if !knownSubject && strings.Contains(about, " ") {
		return english, false
	}
	translated, known := s.text(rest, depth)
	if !knownSubject {
		return about + ": " + translated, known
	}
	return subject + "：" + translated, true
}

// split divides a list at its commas, not at those in parentheses.
func split(list string) []string {
	var items []string
	from, depth := 0, 0
	for i := range len(list) {
		switch {
		case list[i] == '(':
			depth++
		case list[i] == ')':
			depth--
		case depth == 0 && strings.HasPrefix(list[i:], ", "):
			items = append(items, list[from:i])
			from = i + len(", ")
		}
	}
	return append(items, list[from:])
}
