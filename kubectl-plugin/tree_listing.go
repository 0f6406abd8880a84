package kubectlplugin

import (
	"context"
	"fmt"
	"io"
	"reflect"

	"github.com/spf13/cobra"

	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/source"
)

// drawing is how a command below tree draws the objects of one kind, which are the items of the list S.
type drawing[S any] struct {
	help
	// scoped draws the objects of one namespace, or with -A of all; without it those of all namespaces are drawn.
	scoped bool
	// ask lists the objects of a namespace, or what belongs to the one of a name where that is not empty.
	ask func(ctx context.Context, src source.Source, namespace, name string) (*S, error)
	// count the items of a list, and incomplete says what it lacks.
	count      func(*S) int
	incomplete func(*S) []string
	// print draws a list for a person.
	print func(io.Writer, *S, printer.Options) error
}

// drawingCommand is one run of a command below tree.
type drawingCommand[S any, L objectList[S]] struct {
	output
	of              drawing[S]
	kind            source.Kind
	strict, all     bool
	namespace, name string
}

// newDrawingCommand returns the command below tree that draws the objects of a kind.
func newDrawingCommand[S any, L objectList[S]](s *session, kind source.Kind, d drawing[S]) *cobra.Command {
	o := &drawingCommand[S, L]{of: d, kind: kind}
	cmd := &cobra.Command{
		Use:               kind.Name + " [NAME]",
		Aliases:           kind.Words()[1:],
		Short:             d.short,
		Long:              d.long,
		Example:           fmt.Sprintf(d.examples, s.Name),
		Annotations:       map[string]string{answerAnnotation: reflect.TypeFor[S]().Name()},
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeNames(s, kind, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.complete(s, args); err != nil {
				return err
			}
			return o.run(cmd.Context(), s)
		},
	}
	o.output.addFlags(cmd, true)
	addStrictFlag(cmd, &o.strict)
	if d.scoped {
		cmd.Flags().BoolVarP(&o.all, "all-namespaces", "A", false, "Draw the "+kind.Many()+" of all namespaces")
	}
	return cmd
}

func (o *drawingCommand[S, L]) complete(s *session, args []string) error {
	if len(args) > 0 && o.all {
		return usage("a name and --all-namespaces cannot be used together")
	}
	var err error
	if len(args) == 0 {
		o.namespace, err = s.namespace()
	} else {
		o.namespace, o.name, err = s.object(o.kind, args[0])
	}
	if err != nil {
		return err
	}
	if o.all {
		o.namespace = ""
	}
	return o.output.complete()
}

func (o *drawingCommand[S, L]) run(ctx context.Context, s *session) error {
	src, err := s.connect()
	if err != nil {
		return err
	}
	list, err := o.of.ask(ctx, src, o.namespace, o.name)
	if err != nil {
		return err
	}
	if o.of.count(list) == 0 && o.text() {
		fmt.Fprintln(s.Streams.ErrOut, s.say(o.none()))
		return incomplete(s, o.of.incomplete(list), o.strict)
	}
	err = o.print(s, L(list), o.kind.Resource(), func(w io.Writer, options printer.Options) error {
		return o.of.print(w, list, options)
	})
	if err != nil {
		return err
	}
	return incomplete(s, o.of.incomplete(list), o.strict)
}

// none says that there are no objects, as kubectl does.
func (o *drawingCommand[S, L]) none() string {
	if !o.of.scoped || o.namespace == "" {
		return fmt.Sprintf("No %s found.", o.kind.Many())
	}
	return fmt.Sprintf("No %s found in %s namespace; -A draws all namespaces.", o.kind.Many(), o.namespace)
}
