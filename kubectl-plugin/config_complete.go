package kubectlplugin

import (
	"strings"

	"github.com/spf13/cobra"

	"koordinator.sh/koord/api/configuration"
	decision "koordinator.sh/koord/decision/configuration"
)

// keyPathsLike are the keys, or the fields of a key, that begin with a prefix.
func keyPathsLike(prefix string, assign bool) []cobra.Completion {
	key, _, found := strings.Cut(prefix, ".")
	var out []cobra.Completion
	if !found || !isKey(key) {
		for _, known := range configuration.Keys() {
			if strings.HasPrefix(known, prefix) {
				out = append(out, known+".")
			}
		}
		return out
	}
	fields, err := decision.Explain(decision.KeyPath{Key: key})
	if err != nil {
		return nil
	}
	end := ""
	if assign {
		end = "="
	}
	for _, field := range fields {
		path := key + "." + strings.TrimSuffix(field.Path, "[]")
		if strings.HasPrefix(path, prefix) && !strings.Contains(path, "*") {
			out = append(out, cobra.CompletionWithDesc(path+end, field.Description))
		}
	}
	return out
}
