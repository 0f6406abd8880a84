package kubectlplugin

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/messages"
)

const codesExamples = `  # List all codes
  %[1]s codes

  # Explain a code in Chinese
  %[1]s why KOORD0101 --lang zh`

type codesOptions struct {
	output
	lang string
}

func newCodesCommand(s *session) *cobra.Command {
	o := &codesOptions{}
	cmd := &cobra.Command{
		Use:               "codes [CODE]",
		Short:             "List the finding codes, or explain one",
		Example:           fmt.Sprintf(codesExamples, s.Name),
		GroupID:           "see",
		Args:              atMostOne("code"),
		ValidArgsFunction: completeCodes,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := o.complete(); err != nil {
				return err
			}
			if len(args) == 1 {
				return o.one(s, args[0])
			}
			return o.all(s)
		},
	}
	o.addAll(cmd)
	return cmd
}

func (o *codesOptions) addAll(cmd *cobra.Command) {
	o.addFlags(cmd, true)
	cmd.Flags().StringVar(&o.lang, "lang", "", "Language of the output, en or zh (default from KOORD_LANG, or the locale)")
	must(cmd.RegisterFlagCompletionFunc("lang", cobra.FixedCompletions([]string{"en", "zh"}, cobra.ShellCompDirectiveNoFileComp)))
}

func (o *codesOptions) complete() error {
	if o.lang != "" && o.lang != "en" && o.lang != "zh" {
		return usage("--lang %q: must be en or zh", o.lang)
	}
	return o.output.complete()
}

// language is the flag's, else the reader's.
func (o *codesOptions) language(s *session) messages.Language {
	if o.lang != "" {
		return messages.Language(o.lang)
	}
	return s.language()
}

func (o *codesOptions) all(s *session) error {
	entries, err := finding.All()
	if err != nil {
		return err
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(diagnosticsv1alpha1.GroupVersion.WithKind("FindingCodeList"))
	for _, entry := range entries {
		item, err := codeObject(entry)
		if err != nil {
			return err
		}
		list.Items = append(list.Items, *item)
	}
	o.translated = true
	return o.print(s, list, "code", func(w io.Writer, options printer.Options) error {
		return printer.Codes(w, entries, o.language(s), options)
	})
}

func (o *codesOptions) one(s *session, text string) error {
	code, ok := finding.ParseCode(text)
	if !ok {
		return usage("code %q: must be KOORD followed by four digits", text)
	}
	entry, ok := finding.Lookup(code)
	if !ok {
		return finding.Wrap(fmt.Errorf("code %q not found", code), finding.NotFound, "koordctl codes")
	}
	item, err := codeObject(entry)
	if err != nil {
		return err
	}
	o.translated = true
	return o.print(s, item, "code", func(w io.Writer, options printer.Options) error {
		return printer.Code(w, entry, o.language(s), options)
	})
}

// codeObject is an entry as an object. The name of an object is in its metadata, so that of the code is its title.
func codeObject(entry finding.Entry) (*unstructured.Unstructured, error) {
	item, err := objectOf("FindingCode", string(entry.Code), entry)
	if err != nil {
		return nil, err
	}
	delete(item.Object, "name")
	item.Object["title"] = entry.Name
	return item, nil
}

// completeWhy completes codes, and objects once their type or namespace is typed.
func completeWhy(s *session) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if strings.Contains(prefix, "/") {
			return completeTyped(s)(cmd, args, prefix)
		}
		return completeCodes(cmd, args, prefix)
	}
}

func completeCodes(_ *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
	entries, err := finding.All()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var out []cobra.Completion
	for i := range entries {
		if code := string(entries[i].Code); strings.HasPrefix(code, strings.ToUpper(prefix)) {
			out = append(out, cobra.CompletionWithDesc(code, entries[i].Name))
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}
