package kubectlplugin

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"

	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/source"
)

// topNamespacedOptions are what the commands below top have in common that list what lives in namespaces.
type topNamespacedOptions struct {
	topOptions
	// kind is one of what is listed, as -o name and messages call it.
	kind          string
	names         []string
	allNamespaces bool
	// namespace that is asked for; empty for all.
	namespace string
}

func (o *topNamespacedOptions) addFlags(cmd *cobra.Command, orders string) {
	o.topOptions.addFlags(cmd, orders)
	cmd.Flags().BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "Show the "+plural(o.kind)+" of all namespaces")
}

func (o *topNamespacedOptions) complete(s *session, names []string) error {
	if len(names) > 0 && o.allNamespaces {
		return usage("names and --all-namespaces cannot be used together")
	}
	if err := o.topOptions.complete(names); err != nil {
		return err
	}
	var err error
	if o.namespace, o.names, err = s.objects(source.Kind(o.kind), names); o.allNamespaces {
		o.namespace = ""
	}
	return err
}

// show prints a list of so many items. What a watch appends has no headers, and nothing to append is not told.
func (o *topNamespacedOptions) show(s *session, list runtime.Object, items int, first bool, people func(io.Writer, printer.Options) error) error {
	if items == 0 && o.text() {
		switch {
		case first && o.namespace == "":
			fmt.Fprintf(s.Streams.ErrOut, "No %s found.\n", plural(o.kind))
		case first:
			fmt.Fprintf(s.Streams.ErrOut, "No %s found in namespace %s; -A shows all namespaces.\n", plural(o.kind), o.namespace)
		}
		return nil
	}
	return o.print(s, list, o.kind, func(w io.Writer, options printer.Options) error {
		options.NoHeaders = options.NoHeaders || !first
		options.WithNamespace = o.namespace == ""
		o.labels.set(&options)
		return people(w, options)
	})
}

func plural(kind string) string { return kind + "s" }
