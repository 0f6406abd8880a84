package kubectlplugin

import (
	"context"
	"fmt"
	"io"
	"reflect"
	"slices"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/source"
)

// listing is how a command below top lists the objects of one kind: T is an item of the list S.
type listing[T, S any] struct {
	help
	// orders are the words of --sort-by, in the order in which help lists them.
	orders []order[T]
	// fields are beginnings of field selectors that completion proposes; a kind without has no --field-selector.
	fields []string
	// ask lists what the query selects.
	ask func(context.Context, source.Source, query) (*S, error)
	// items of a list, and incomplete what it lacks.
	items      func(*S) *[]T
	incomplete func(*S) []string
	// print writes a list for a person.
	print func(io.Writer, *S, printer.Options) error
	// after are lines on standard error below the first list that a person reads; nil for none.
	after func(list *S, program string) []string
}

// query is what the flags and arguments select.
type query struct {
	// namespace that is asked for; empty for all.
	namespace      string
	names          []string
	labels, fields string
	// format and order are what -o and --sort-by say; empty for the defaults.
	format, order string
}

// listingCommand is one run of a command below top.
type listingCommand[T, S any, P itemOf[T], L objectList[S]] struct {
	topOptions
	of            listing[T, S]
	kind          source.Kind
	query         query
	allNamespaces bool
}

// itemOf is an object of a list.
type itemOf[T any] interface {
	*T
	runtime.Object
	metav1.Object
}

// objectList is a list of objects.
type objectList[S any] interface {
	*S
	runtime.Object
}

// newListingCommand returns the command below top that lists the objects of a kind.
func newListingCommand[T, S any, P itemOf[T], L objectList[S]](s *session, kind source.Kind, l listing[T, S]) *cobra.Command {
	o := &listingCommand[T, S, P, L]{of: l, kind: kind, topOptions: topOptions{orders: words(l.orders)}}
	cmd := &cobra.Command{
		Use:               kind.Many() + " [NAME...]",
		Aliases:           slices.DeleteFunc(kind.Words(), func(word string) bool { return word == kind.Many() }),
		Short:             l.short,
		Long:              l.long,
		Example:           fmt.Sprintf(l.examples, s.Name),
		Annotations:       map[string]string{answerAnnotation: reflect.TypeFor[S]().Name()},
		ValidArgsFunction: completeNames(s, kind, 0),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.complete(s, args); err != nil {
				return err
			}
			return runTop(cmd.Context(), s, &o.topOptions, overview[L]{
				ask: o.list, changed: o.changed, missing: func(list L) []string { return o.of.incomplete(list) },
				show: func(list L, first bool) error { return o.show(s, list, first) },
			})
		},
	}
	o.topOptions.addFlags(cmd, orderNames(l.orders))
	if kind.Namespaced {
		cmd.Flags().BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "List the "+kind.Many()+" of all namespaces")
	}
	if l.fields != nil {
		addFieldSelector(cmd, &o.fields, l.fields)
	}
	return cmd
}

func (o *listingCommand[T, S, P, L]) complete(s *session, args []string) error {
	if len(args) > 0 && o.allNamespaces {
		return usage("names and --all-namespaces cannot be used together")
	}
	if err := o.topOptions.complete(args); err != nil {
		return err
	}
	namespace, names, err := s.objects(o.kind, args)
	if o.allNamespaces {
		namespace = ""
	}
	o.query = query{namespace: namespace, names: names, labels: o.selector, fields: o.fields, format: o.format, order: o.sortBy}
	return err
}

// list asks for the objects in the order that the flags say.
func (o *listingCommand[T, S, P, L]) list(ctx context.Context, src source.Source) (L, error) {
	list, err := o.of.ask(ctx, src, o.query)
	if err != nil {
		return nil, err
	}
	return list, sortItems[T, P](*o.of.items(list), o.of.orders, o.sortBy)
}

// changed keeps the objects that are new or different.
func (o *listingCommand[T, S, P, L]) changed(before, now L) (L, bool) {
	out := *(*S)(now)
	items := o.of.items(&out)
	*items = different(*o.of.items(before), *o.of.items(now), func(t *T) string { return P(t).GetNamespace() + "/" + P(t).GetName() })
	return &out, len(*items) > 0
}

// show prints a list. What a watch appends to the first one has no headers and no lines below it.
func (o *listingCommand[T, S, P, L]) show(s *session, list L, first bool) error {
	if len(*o.of.items(list)) == 0 && o.text() {
		if first {
			fmt.Fprintln(s.Streams.ErrOut, s.say(o.none()))
		}
		return nil
	}
	err := o.print(s, list, o.kind.Resource(), func(w io.Writer, options printer.Options) error {
		options.NoHeaders = options.NoHeaders || !first
		options.WithNamespace = o.kind.Namespaced && o.query.namespace == ""
		o.labels.set(&options)
		return o.of.print(w, list, options)
	})
	if err != nil || !first || !o.text() || o.noHeaders || o.of.after == nil {
		return err
	}
	for line := range slices.Values(o.of.after(list, s.Name)) {
		fmt.Fprintln(s.Streams.ErrOut, s.say(line))
	}
	return nil
}

// none says that there are no objects, as kubectl does.
func (o *listingCommand[T, S, P, L]) none() string {
	if o.query.namespace == "" {
		return fmt.Sprintf("No %s found.", o.kind.Many())
	}
	return fmt.Sprintf("No %s found in %s namespace; -A lists all namespaces.", o.kind.Many(), o.query.namespace)
}
