package kubectlplugin

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/source"
)

const whyLong = `Explain an object briefly: one sentence, at most five lines of evidence, and at most three commands to go on with. A name without
a type is looked for among all objects that explain knows. With a finding code, explain the code.

  --depth 1  the brief answer
  --depth 2  what explain prints
  --depth 3  what explain -o wide prints`

const whyExamples = `  # Explain why a pod is pending
  %[1]s why pod/web-1 -n shop

  # Explain whatever has this name: a pod, an ElasticQuota, a gang, a node
  %[1]s why training -n ml

  # Explain in full
  %[1]s why node/worker-1 --depth 2

  # Explain a code
  %[1]s why KOORD0102`

func newWhyCommand(s *session) *cobra.Command {
	o := &codesOptions{}
	cmd := &cobra.Command{
		Use:               "why CODE|NAME|TYPE/NAME",
		Short:             "Explain an object in a few lines, or a finding code",
		Long:              whyLong,
		Example:           fmt.Sprintf(whyExamples, s.Name),
		GroupID:           "see",
		Args:              exactlyOne("code, name or TYPE/NAME"),
		ValidArgsFunction: completeWhy(s),
		RunE: func(cmd *cobra.Command, args []string) error {
			if strings.Contains(args[0], "/") || namesKind(args[0]) {
				return usage("%q: must be a code, a name, or TYPE/NAME where TYPE is %s", args[0], alternatives(singular(kindsOf(explains))))
			}
			if _, isCode := finding.ParseCode(args[0]); isCode || strings.ToLower(args[0]) != args[0] { // names of objects are in lower case
				if err := o.complete(); err != nil {
					return err
				}
				return o.one(s, args[0])
			}
			return explainNamed(cmd, s, args[0])
		},
	}
	o.addAll(cmd)
	cmd.Flags().Int(depthFlag, briefly, "How much to answer of an object: 1 briefly, 2 as explain does, 3 as explain -o wide does")
	return cmd
}

// explainNamed explains the only object of a name, with the flags that the command was given.
func explainNamed(cmd *cobra.Command, s *session, name string) error {
	kind, err := kindNamed(cmd.Context(), s, name)
	if err != nil {
		return err
	}
	explain := childOf(childOf(cmd.Root(), explainCommand), kind.Name)
	explain.SetContext(cmd.Context())
	given := []string{askBriefly}
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if explain.Flags().Lookup(flag.Name) != nil {
			given = append(given, "--"+flag.Name+"="+flag.Value.String())
		}
	})
	if err := explain.ParseFlags(given); err != nil {
		return usage("%w", err)
	}
	return explain.RunE(explain, []string{name})
}

// kindNamed is the kind of the only object of a name in the namespace, or of no namespace.
func kindNamed(ctx context.Context, s *session, name string) (source.Kind, error) {
	src, err := s.connect()
	if err != nil {
		return source.Kind{}, err
	}
	reader, can := src.(source.ObjectReader)
	if !can {
		return source.Kind{}, errors.New("look for an object by its name: not available from this source")
	}
	namespace, err := s.namespace()
	if err != nil {
		return source.Kind{}, err
	}
	found, unseen, err := source.KindsNamed(ctx, reader, kindsOf(explains), namespace, name)
	if err != nil {
		return source.Kind{}, err
	}
	if len(found) == 1 {
		return found[0], nil
	}
	_ = incomplete(s, unseen, false) // it fails only when it is strict
	if len(found) > 1 {
		return source.Kind{}, ambiguous(name, found)
	}
	err = fmt.Errorf("no object that can be explained is named %q in namespace %q", name, namespace)
	return source.Kind{}, finding.Wrap(err, finding.NotFound, "koordctl top pods -A")
}

// ambiguous is the error for a name of objects of several kinds.
func ambiguous(name string, found []source.Kind) error {
	candidates := make([]string, len(found))
	for i, kind := range found {
		candidates[i] = kind.Name + "/" + name
	}
	return usage("%q is the name of more than one object: %s", name, strings.Join(candidates, ", "))
}
