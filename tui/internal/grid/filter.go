package grid

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/labels"
)

// FilterForm is one way to write a filter.
type FilterForm struct {
	// Form as it is typed.
	Form string
	// Help is what the form keeps, in a few words.
	Help string
}

// FilterForms are all ways to write a filter, for help texts.
var FilterForms = []FilterForm{
	{"EXPRESSION", "case-insensitive regular expression"},
	{"!EXPRESSION", "inverse: what does not match"},
	{"-f LETTERS", "fuzzy: names with these letters in this order"},
	{"-l SELECTOR", "label selector, as in kubectl -l"},
}

// filter is a parsed expression. The zero value keeps everything.
type filter struct {
	expr    string
	pattern *regexp.Regexp
	inverse bool
	// letters of a fuzzy filter, in lower case.
	letters []rune
	// selector of labels. Rows do not have them: Admit says which rows it selects.
	selector string
}

// ParseFilter reports what is wrong with an expression; nil when SetFilter would take it.
func ParseFilter(expr string) error {
	_, err := parseFilter(expr)
	return err
}

// SelectorOf is the label selector of an expression; empty when the expression is of another form.
func SelectorOf(expr string) string {
	if body, ok := option(expr, "-l"); ok {
		return body
	}
	return ""
}

// option is what follows a flag; false when the expression does not begin with it.
func option(expr, flag string) (string, bool) {
	rest, ok := strings.CutPrefix(expr, flag)
	if !ok || rest != "" && rest[0] != ' ' {
		return "", false
	}
	return strings.TrimSpace(rest), true
}

func parseFilter(expr string) (filter, error) {
	if body, ok := option(expr, "-f"); ok {
		return fuzzy(expr, body), nil
	}
	if body, ok := option(expr, "-l"); ok {
		return selecting(expr, body)
	}
	f := filter{expr: expr}
	body, inverse := strings.CutPrefix(expr, "!")
	if body == "" {
		return f, nil
	}
	// Parsed as it was typed, so that an error does not quote what is put in front.
	if _, err := syntax.Parse(body, syntax.Perl); err != nil {
		return filter{}, fmt.Errorf("filter %q is not a regular expression: %w", body, err)
	}
	pattern, err := regexp.Compile("(?i)" + body)
	if err != nil {
		return filter{}, fmt.Errorf("filter %q is not a regular expression: %w", body, err)
	}
	f.pattern, f.inverse = pattern, inverse
	return f, nil
}

func fuzzy(expr, letters string) filter {
	if letters == "" {
		return filter{}
	}
	return filter{expr: expr, letters: []rune(strings.ToLower(strings.Join(strings.Fields(letters), "")))}
}

func selecting(expr, selector string) (filter, error) {
	if selector == "" {
		return filter{}, nil
	}
	if _, err := labels.Parse(selector); err != nil {
		return filter{}, fmt.Errorf("filter %q is not a label selector: %w", selector, err)
	}
	return filter{expr: expr, selector: selector}, nil
}

// keeps reports whether a row with that key and text passes. A selector keeps every row: it is for Admit.
func (f *filter) keeps(key, text string) bool {
	if f.pattern != nil {
		return f.pattern.MatchString(text) != f.inverse
	}
	return inOrder(f.letters, key)
}

// inOrder reports whether all letters occur in the text, in their order, whatever is between them.
func inOrder(letters []rune, text string) bool {
	for _, r := range text {
		if len(letters) == 0 {
			return true
		}
		if unicode.ToLower(r) == letters[0] {
			letters = letters[1:]
		}
	}
	return len(letters) == 0
}
