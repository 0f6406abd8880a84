package kubectlplugin

import (
	"maps"

	decision "koordinator.sh/koord/decision/config/configuration"
)

// assign sets KEY.PATH=VALUE pairs in a copy of the data.
func assign(data map[string]string, assignments []string) (map[string]string, error) {
	out := maps.Clone(data)
	for _, text := range assignments {
		path, value, err := decision.ParseAssignment(text)
		if err != nil {
			return nil, &usageError{err}
		}
		if out, err = decision.Assign(out, path, value); err != nil {
			return nil, err
		}
	}
	return out, nil
}
