package kubectlplugin

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"koordinator.sh/koord/source"
)

const (
	// completionLimit bounds what a completion asks for.
	completionLimit = 100
	// completionTimeout bounds how long a shell waits after the tab key.
	completionTimeout = 3 * time.Second
)

// completeNames completes arguments with the names of a kind, up to most arguments; 0 means any number. After TYPE/ or NAMESPACE/ names
// are completed too.
func completeNames(s *session, kind source.Kind, most int) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if most > 0 && len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		src, err := s.connect()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		namespace, err := s.namespace()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		lead, _, slashed := strings.Cut(prefix, "/")
		switch {
		case !slashed:
			lead = ""
		case isWordFor(kind, lead):
			lead += "/"
		case !namesKind(lead) && kind.Namespaced:
			namespace, lead = lead, lead+"/"
		default:
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(contextOf(cmd), completionTimeout)
		defer cancel()
		names, err := src.Names(ctx, kind, namespace, completionLimit)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		for i := range names {
			names[i] = lead + names[i]
		}
		return matching(names, args, prefix), cobra.ShellCompDirectiveNoFileComp
	}
}

// onlyTyped are the flags whose values only the user knows, and ofNumbers the types of those that are numbers.
var (
	onlyTyped = []string{"selector", "label-columns", "set", "release-name", "as", "as-group", "as-uid", "request-timeout",
		"job-application", "job-user", "job-queue", "job-shape"}
	ofNumbers = []string{"int", "int32", "int64", "uint64", "float64", "duration"}
)

// proposeNoFiles keeps a shell from proposing files for such flags.
func proposeNoFiles(cmd *cobra.Command) {
	none := func(flag *pflag.Flag) {
		if _, completed := cmd.GetFlagCompletionFunc(flag.Name); completed {
			return
		}
		if !slices.Contains(ofNumbers, flag.Value.Type()) && !slices.Contains(onlyTyped, flag.Name) {
			return
		}
		must(cmd.RegisterFlagCompletionFunc(flag.Name, cobra.NoFileCompletions))
	}
	cmd.PersistentFlags().VisitAll(none)
	cmd.LocalNonPersistentFlags().VisitAll(none)
	for _, child := range cmd.Commands() {
		proposeNoFiles(child)
	}
}

func contextOf(cmd *cobra.Command) context.Context {
	if ctx := cmd.Context(); ctx != nil {
		return ctx
	}
	return context.Background()
}

func matching(names, taken []string, prefix string) []cobra.Completion {
	var out []cobra.Completion
	for _, name := range names {
		if strings.HasPrefix(name, prefix) && !slices.Contains(taken, name) {
			out = append(out, name)
		}
	}
	return out
}

// registerGlobalCompletions completes the flags that every command has.
func registerGlobalCompletions(root *cobra.Command, s *session) {
	must(root.RegisterFlagCompletionFunc("namespace", completeNames(s, source.KindNamespace, 0)))
	must(root.RegisterFlagCompletionFunc("color", cobra.FixedCompletions([]string{"auto", "always", "never"}, cobra.ShellCompDirectiveNoFileComp)))
	fromKubeconfig := map[string]func() ([]string, error){
		"context": func() ([]string, error) {
			config, err := s.flags.ToRawKubeConfigLoader().RawConfig()
			return slices.Sorted(maps.Keys(config.Contexts)), err
		},
		"cluster": func() ([]string, error) {
			config, err := s.flags.ToRawKubeConfigLoader().RawConfig()
			return slices.Sorted(maps.Keys(config.Clusters)), err
		},
		"user": func() ([]string, error) {
			config, err := s.flags.ToRawKubeConfigLoader().RawConfig()
			return slices.Sorted(maps.Keys(config.AuthInfos)), err
		},
	}
	for flag, names := range fromKubeconfig {
		must(root.RegisterFlagCompletionFunc(flag, func(_ *cobra.Command, _ []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
			found, err := names()
			if err != nil {
				return nil, cobra.ShellCompDirectiveError
			}
			return matching(found, nil, prefix), cobra.ShellCompDirectiveNoFileComp
		}))
	}
}
