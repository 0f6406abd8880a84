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

const configInitLong = `Print a ConfigMap to start from: co-location enabled, with the protections that it needs.

With --full, list every setting at its built-in default, and as comments the settings without one; this has the same effect as
no ConfigMap at all. Nothing is written, and no cluster is contacted.`

func newConfigInitCommand(s *session) *cobra.Command {
	full := false
	cmd := &cobra.Command{
		Use:     "init",
		Short:   "Print a configuration to start from",
		Long:    configInitLong,
		Example: fmt.Sprintf("  # Print every setting at its default\n  %[1]s config init --full > slo-controller-config.yaml", s.Name),
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return printInit(s.Streams.Out, cmp.Or(s.systemNamespace(), configuration.DefaultNamespace), full)
		},
	}
	cmd.Flags().BoolVar(&full, "full", false, "List every setting at its built-in default")
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
