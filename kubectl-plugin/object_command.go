package kubectlplugin

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"koordinator.sh/koord/source"
)

// help is what help says of a command about a kind.
type help struct {
	short, long string
	// examples with %[1]s for the name of the program.
	examples string
	// answer is the kind of object that the command answers with.
	answer string
}

// objectCommand is a command about one object of a kind.
type objectCommand interface {
	// complete reads and checks the arguments and flags.
	complete(cmd *cobra.Command, s *session, args []string) error
	// run asks and prints.
	run(ctx context.Context, s *session) error
}

// newObjectCommand returns the command KIND NAME below a verb.
func newObjectCommand(s *session, kind source.Kind, texts help, o objectCommand) *cobra.Command {
	return &cobra.Command{
		Use:               kind.Name + " NAME",
		Aliases:           kind.Words()[1:],
		Short:             texts.short,
		Long:              texts.long,
		Example:           fmt.Sprintf(texts.examples, s.Name),
		Annotations:       map[string]string{answerAnnotation: texts.answer},
		Args:              exactlyOne(kind.Name + " name"),
		ValidArgsFunction: completeNames(s, kind, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.complete(cmd, s, args); err != nil {
				return err
			}
			return o.run(cmd.Context(), s)
		},
	}
}
