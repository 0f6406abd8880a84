package configuration

import (
	"fmt"
	"maps"
)

// ParseAssignment reads KEY.PATH=VALUE. The value is behind the first equals sign that is not inside brackets.
func ParseAssignment(text string) (path KeyPath, value string, err error) {
	depth := 0
	for i, r := range text {
		switch {
		case r == '[':
			depth++
		case r == ']':
			depth--
		case r == '=' && depth == 0 && i > 0:
			path, err = ParseKeyPath(text[:i])
			return path, text[i+1:], err
		}
	}
	return KeyPath{}, "", fmt.Errorf("%q: must be KEY.PATH=VALUE", text)
}

// Assign returns the data with one value changed or added, as Set does in the text of its key.
func Assign(data map[string]string, path KeyPath, value string) (map[string]string, error) {
	text, err := Set(data[path.Key], path, value)
	if err != nil {
		return nil, err
	}
	out := maps.Clone(data)
	if out == nil {
		out = map[string]string{}
	}
	out[path.Key] = text
	return out, nil
}
