package messages

import (
	"regexp"
	"strings"
)

// code ends many texts: the code of a finding.
var code = regexp.MustCompile(` \[KOORD\d{4}\]$`)

// parts translates a text that is put together of others: with a code or a full stop behind it, clauses divided by semicolons, or a list.
func (c *catalogue) parts(english string, depth int) (string, bool) {
	if suffix := code.FindString(english); suffix != "" {
		translated, known := c.text(strings.TrimSuffix(english, suffix), depth)
		return translated + suffix, known
	}
	if whole, ok := strings.CutSuffix(english, "."); ok {
		if translated, known := c.text(whole, depth); known {
			return translated + "。", true
		}
	}
	if clauses := strings.Split(english, "; "); len(clauses) > 1 {
		return c.joined(clauses, "；", depth)
	}
	items := split(english)
	if len(items) < 2 {
		return english, false
	}
	// A comma may stand anywhere, so that all items have to be known.
	for _, item := range items {
		if _, known := c.text(item, depth); !known {
			return english, false
		}
	}
	return c.joined(items, "，", depth)
}

func (c *catalogue) joined(english []string, by string, depth int) (string, bool) {
	translated, some := make([]string, len(english)), false
	for i, part := range english {
		var known bool
		translated[i], known = c.text(part, depth)
		some = some || known
	}
	if !some {
		by = "; "
	}
	return strings.Join(translated, by), some
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
