package kubectlplugin

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"koordinator.sh/koord/source"
)

func newTopCommand(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use:     topCommand,
		Short:   "Show the resources of " + alternatives(plural(kindsOf(tops))),
		GroupID: "see",
	}
	addNouns(cmd, s, tops)
	return cmd
}

// topOptions are what the commands below top have in common.
type topOptions struct {
	output
	watch
	strict   bool
	selector string
	// fields is the field selector, where there is one.
	fields string
	sortBy string
	labels labelColumns
	// orders are the words of --sort-by.
	orders []string
}

// addFlags adds the flags; orders says for help what --sort-by understands.
func (o *topOptions) addFlags(cmd *cobra.Command, orders string) {
	o.output.addFlags(cmd, true)
	o.watch.addFlags(cmd)
	addStrictFlag(cmd, &o.strict)
	cmd.Flags().StringVarP(&o.selector, "selector", "l", "", "Selector (label query) to filter on")
	o.labels.addFlags(cmd)
	cmd.Flags().StringVar(&o.sortBy, "sort-by", "", "Order by "+orders+", or a JSONPath such as .cpu.used")
	must(cmd.RegisterFlagCompletionFunc("sort-by", cobra.FixedCompletions(o.orders, cobra.ShellCompDirectiveNoFileComp)))
}

func (o *topOptions) complete(names []string) error {
	if len(names) > 0 && o.selector != "" {
		return usage("names and --selector cannot be used together")
	}
	if err := checkOrder(o.sortBy, o.orders); err != nil {
		return err
	}
	if err := checkSelector(o.selector); err != nil {
		return err
	}
	if err := checkFieldSelector(o.fields, names); err != nil {
		return err
	}
	return o.output.complete()
}

// overview is what is asked and shown by a command below top.
type overview[L runtime.Object] struct {
	ask func(context.Context, source.Source) (L, error)
	// changed keeps what is new or different, and says whether there is anything.
	changed func(before, now L) (L, bool)
	// missing names what the answer lacks.
	missing func(L) []string
	// show prints an answer. What a watch appends to the first one has no headers.
	show func(answer L, first bool) error
}

// runTop asks once, or with --watch again and again.
func runTop[L runtime.Object](ctx context.Context, s *session, o *topOptions, view overview[L]) error {
	src, err := s.connect()
	if err != nil {
		return err
	}
	defer s.collectLess()()
	ask := func(ctx context.Context) (L, error) {
		answer, err := view.ask(ctx, src)
		return answer, o.refused(err)
	}
	var told []string
	show := func(answer L, first bool) error {
		if err := view.show(answer, first); err != nil {
			return err
		}
		missing := view.missing(answer)
		if slices.Equal(missing, told) {
			return nil
		}
		told = missing
		return incomplete(s, missing, o.strict)
	}
	if o.watch.on {
		return repeat(ctx, s.Clock, time.Duration(o.watch.interval), question[L]{ask: ask, changed: view.changed, show: show})
	}
	answer, err := ask(ctx)
	if err != nil {
		return err
	}
	return show(answer, true)
}

// refused makes a usage error of a field selector that the API server does not take.
func (o *topOptions) refused(err error) error {
	if o.fields == "" || !apierrors.IsBadRequest(err) {
		return err
	}
	return usage("--field-selector %q: %w", o.fields, err)
}
