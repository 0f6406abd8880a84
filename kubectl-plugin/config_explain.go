package kubectlplugin

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	decision "koordinator.sh/koord/decision/config/configuration"
	"koordinator.sh/koord/kubectl-plugin/printer"
)

const configExplainExamples = `  # Explain a field: what it does, its range and default
  %[1]s config explain colocation-config.cpuReclaimThresholdPercent

  # List all fields of a key
  %[1]s config explain resource-threshold-config`

func newConfigExplainCommand(s *session) *cobra.Command {
	o := &output{}
	cmd := &cobra.Command{
		Use:               "explain KEY[.PATH]",
		Short:             "Show what a field does, its range and its default; needs no cluster",
		Example:           fmt.Sprintf(configExplainExamples, s.Name),
		Args:              exactlyOne("key path"),
		ValidArgsFunction: completeKeyPaths(false, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := o.complete(); err != nil {
				return err
			}
			path, err := decision.ParseKeyPath(args[0])
			if err != nil {
				return &usageError{err}
			}
			fields, err := decision.Explain(path)
			if err != nil {
				return &usageError{err}
			}
			list, err := listOf("ConfigField", fields, func(f *decision.FieldDocumentation) string { return decision.JoinKey(f.Key, f.Path) }, struct{}{})
			if err != nil {
				return err
			}
			return o.print(s, list, "field", func(w io.Writer, options printer.Options) error {
				return printer.ConfigFields(w, fields, options)
			})
		},
	}
	o.addFlags(cmd, true)
	return cmd
}
