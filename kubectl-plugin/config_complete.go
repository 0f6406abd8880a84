package kubectlplugin

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"koordinator.sh/koord/api/configuration"
	decision "koordinator.sh/koord/decision/config/configuration"
)

// completeRevisions completes the numbers of the revisions that are kept, each with the command that made it.
func completeRevisions(s *session) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		configurator, err := s.configurator()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		ctx, cancel := context.WithTimeout(contextOf(cmd), completionTimeout)
		defer cancel()
		revisions, err := configurator.Revisions(ctx, s.systemNamespace())
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		var out []cobra.Completion
		for _, revision := range slices.Backward(revisions) {
			if number := strconv.FormatInt(revision.Number, 10); strings.HasPrefix(number, prefix) {
				out = append(out, cobra.CompletionWithDesc(number, revision.Cause))
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

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
