package kubectlplugin

import (
	"maps"

	decision "koordinator.sh/koord/decision/config/configuration"
)

// assign sets KEY.PATH=VALUE pairs in a copy of the data.
func assign(data map[string]string, assignments []string) (map[string]string, error) {
	out := maps.Clone(data)
	if out == nil {
		out = map[string]string{}
	}
	for _, text := range assignments {
		name, value, ok := cutAssignment(text)
		if !ok {
			return nil, usage("%q: must be KEY.PATH=VALUE", text)
		}
		path, err := decision.ParseKeyPath(name)
		if err != nil {
			return nil, &usageError{err}
		}
		if out[path.Key], err = decision.Set(out[path.Key], path, value); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// cutAssignment splits at the first equals sign that is not inside brackets.
func cutAssignment(text string) (name, value string, ok bool) {
	depth := 0
	for i, r := range text {
		switch {
		case r == '[':
			depth++
		case r == ']':
			depth--
		case r == '=' && depth == 0:
			return text[:i], text[i+1:], i > 0
		}
	}
	return "", "", false
}
