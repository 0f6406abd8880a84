package finding

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"sigs.k8s.io/yaml"
)

//go:embed catalogue.yaml
var catalogueYAML []byte

// Class orders reasons by what helps against them, most telling first.
type Class string

// classes in the order in which a headline is chosen.
var classes = []Class{"misconfig", "agent", "conflict", "pod", "state", "quota", "topology", "load", "capacity", "waiting"}

// Rank is the class's place in the order in which a headline is chosen, from 0; unknown classes come last.
func (c Class) Rank() int {
	for i, known := range classes {
		if c == known {
			return i
		}
	}
	return len(classes)
}

// Text is a sentence in the languages of the catalogue.
type Text struct {
	// English text.
	English string `json:"en"`
	// Chinese text.
	Chinese string `json:"zh"`
}

// Entry is the catalogue entry of one code.
type Entry struct {
	// Code of the finding.
	Code Code `json:"code"`
	// Name is the code's readable name, UpperCamelCase.
	Name string `json:"name"`
	// Class of the finding.
	Class Class `json:"class"`
	// Severity is error, warning or info.
	Severity string `json:"severity"`
	// Summary says what it means.
	Summary Text `json:"summary"`
	// Cause says what usually leads to it.
	Cause Text `json:"cause"`
	// Fix says what to do.
	Fix Text `json:"fix"`
}

var load = sync.OnceValues(func() ([]Entry, error) {
	var entries []Entry
	if err := yaml.UnmarshalStrict(catalogueYAML, &entries); err != nil {
		return nil, fmt.Errorf("parse the embedded finding catalogue: %w", err)
	}
	return entries, nil
})

// All returns every entry, ordered by code. The catalogue is parsed once, on first use. Callers must not modify it.
func All() ([]Entry, error) { return load() }

// Lookup returns the entry of a code, and false when the catalogue does not have it.
func Lookup(code Code) (Entry, bool) {
	entries, err := load()
	if err != nil {
		return Entry{}, false
	}
	for i := range entries {
		if entries[i].Code == code {
			return entries[i], true
		}
	}
	return Entry{}, false
}

var codeForm = regexp.MustCompile(`^(?i)(?:KOORD)?(\d{1,4})$`)

// ParseCode returns the code that a text names, such as KOORD0102, koord0102, 0102 or 102; false when it has another form. The catalogue need
// not have the code.
func ParseCode(text string) (Code, bool) {
	digits := codeForm.FindStringSubmatch(text)
	if digits == nil {
		return "", false
	}
	return Code("KOORD" + strings.Repeat("0", 4-len(digits[1])) + digits[1]), true
}

// ClassOf returns the class of a code; empty for an unknown one.
func ClassOf(code Code) Class {
	entry, _ := Lookup(code)
	return entry.Class
}
