package kubectlplugin

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/messages"
)

// output is the -o flag of a command whose answer is an object.
type output struct {
	flags     *genericclioptions.PrintFlags
	noHeaders bool
	format    string
	// more are formats that the command itself prints.
	more []string
	// translated says that what people read is in their language already.
	translated bool
	// printer of the format, made once: a file of columns or a template may be a pipe.
	printer objectPrinter
}

func (o *output) addFlags(cmd *cobra.Command, withHeaders bool) {
	o.flags = genericclioptions.NewPrintFlags("")
	o.flags.NamePrintFlags = nil
	o.flags.TemplatePrinterFlags.AddFlags(cmd)
	cmd.Flags().StringVarP(&o.format, "output", "o", "", "Output format, one of: "+strings.Join(o.formats(), ", "))
	if withHeaders {
		cmd.Flags().BoolVar(&o.noHeaders, "no-headers", false, "Do not print headers")
	}
	must(cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(completableFormats(o.formats()), cobra.ShellCompDirectiveNoFileComp)))
}

func (o *output) formats() []string {
	formats := append([]string{"wide", "name"}, o.flags.JSONYamlPrintFlags.AllowedFormats()...)
	formats = append(formats, o.flags.TemplatePrinterFlags.AllowedFormats()...)
	formats = append(formats, columnsFormats...)
	formats = append(formats, o.more...)
	slices.Sort(formats)
	return slices.Compact(formats)
}

func completableFormats(formats []string) []cobra.Completion {
	var out []cobra.Completion
	for _, format := range formats {
		if !strings.Contains(format, "file") && !strings.HasSuffix(format, "-as-json") {
			out = append(out, format)
		}
	}
	return out
}

// complete checks the format before anything is asked.
func (o *output) complete() error {
	if o.text() || o.format == "name" || slices.Contains(o.more, o.format) {
		return nil
	}
	p, err := o.objectPrinter()
	if err != nil {
		return usage("output format %q: %w", o.format, err)
	}
	o.printer = p
	return nil
}

// text says whether a person reads the answer.
func (o *output) text() bool { return o.format == "" || o.format == "wide" }

type objectPrinter interface {
	PrintObj(runtime.Object, io.Writer) error
}

func (o *output) objectPrinter() (objectPrinter, error) {
	if kind, _, _ := strings.Cut(o.format, "="); slices.Contains(columnsFormats, kind) {
		return newCustomColumns(o.format, o.noHeaders)
	}
	o.flags.OutputFormat = &o.format
	p, err := o.flags.ToPrinter()
	if genericclioptions.IsNoCompatiblePrinterError(err) {
		return nil, fmt.Errorf("unknown, allowed formats are: %s", strings.Join(o.formats(), ", "))
	}
	return p, err
}

// print writes the answer in the format asked for; people writes it for a person, subject names what it is about for -o name.
func (o *output) print(s *session, obj runtime.Object, subject string, people func(io.Writer, printer.Options) error) error {
	switch {
	case o.text():
		options := s.printerOptions()
		options.Wide, options.NoHeaders = o.format == "wide", o.noHeaders
		if o.translated || options.Language == messages.English {
			return people(s.Streams.Out, options)
		}
		var printed strings.Builder
		if err := people(io.MultiWriter(s.Streams.Out, &printed), options); err != nil {
			return err
		}
		return printer.Legend(s.Streams.Out, printed.String(), options)
	case o.format == "name":
		return printNames(s.Streams.Out, obj, subject)
	}
	return o.printer.PrintObj(obj, s.Streams.Out)
}

// printNames writes KIND/NAME of the real objects, so that the output feeds kubectl. A name that says its kind already, as that of a
// workload does, stands alone.
func printNames(w io.Writer, obj runtime.Object, subject string) error {
	items := []runtime.Object{obj}
	if meta.IsListType(obj) {
		var err error
		if items, err = meta.ExtractList(obj); err != nil {
			return fmt.Errorf("list the items of the answer: %w", err)
		}
	}
	for _, item := range items {
		accessor, err := meta.Accessor(item)
		if err != nil {
			return fmt.Errorf("read the name of an item of the answer: %w", err)
		}
		name := accessor.GetName()
		if !strings.Contains(name, "/") {
			name = subject + "/" + name
		}
		if _, err := fmt.Fprintln(w, name); err != nil {
			return err
		}
	}
	return nil
}

// must is for registrations that fail only when the program names a flag it does not have.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
