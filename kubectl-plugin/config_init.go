package kubectlplugin

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"koordinator.sh/koord/api/configuration"
	decision "koordinator.sh/koord/decision/config/configuration"
)

const configInitLong = `Print a ConfigMap to begin with: co-location switched on, and what keeps it in check.

With --full it names every setting that has a built-in default, at that default, and in comments those that have none; it then
means the same as no ConfigMap at all. Nothing is written and no cluster is asked.`

func newConfigInitCommand(s *session) *cobra.Command {
	full := false
	cmd := &cobra.Command{
		Use:     "init",
		Short:   "Print a configuration to begin with",
		Long:    configInitLong,
		Example: fmt.Sprintf("  # Everything there is, at its default\n  %[1]s config init --full > slo-controller-config.yaml", s.Name),
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return printInit(s.Streams.Out, cmp.Or(s.systemNamespace(), configuration.DefaultNamespace), full)
		},
	}
	cmd.Flags().BoolVar(&full, "full", false, "Name every setting, at its built-in default")
	return cmd
}

func printInit(w io.Writer, namespace string, full bool) error {
	data := decision.Minimal()
	if full {
		var err error
		if data, err = decision.Full(); err != nil {
			return err
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: %s\n  namespace: %s\ndata:\n", configuration.DefaultConfigMapName, namespace)
	for _, key := range configuration.Keys() {
		text, ok := data[key]
		if !ok {
			continue
		}
		if full {
			if err := commentFields(&b, key); err != nil {
				return err
			}
		}
		fmt.Fprintf(&b, "  %s: |\n    %s\n", key, strings.ReplaceAll(text, "\n", "\n    "))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// commentFields lists the fields that have no default.
func commentFields(b *strings.Builder, key string) error {
	fields, err := decision.WithoutDefault(key)
	if err != nil || len(fields) == 0 {
		return err
	}
	b.WriteString("  # Without a default:\n")
	for _, field := range fields {
		allowed := field.Kind
		if field.Range != "" {
			allowed += ", " + field.Range
		}
		fmt.Fprintf(b, "  #   %s: %s\n", field.Path, allowed)
	}
	return nil
}
