package sandbox

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"koordinator.sh/koord/api/finding"
)

// outputFlag is -o of the commands whose answers are no Kubernetes objects.
type outputFlag struct {
	format string
}

func (o *outputFlag) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&o.format, "output", "o", "", "Output format: json or yaml; a table when empty")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"json", "yaml"}, cobra.ShellCompDirectiveNoFileComp))
}

func (o *outputFlag) structured() bool { return o.format != "" }

func (o *outputFlag) validate() error {
	switch o.format {
	case "", "json", "yaml":
		return nil
	}
	return usageError{finding.Wrap(fmt.Errorf("unknown output format %q", o.format), finding.InvalidArgument, "use -o json or -o yaml")}
}

// print writes a value in the format, which is json or yaml.
func (o *outputFlag) print(w io.Writer, value any) error {
	data, err := json.MarshalIndent(value, "", "    ")
	if err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	if o.format == "json" {
		_, err = fmt.Fprintln(w, string(data))
		return err
	}
	if data, err = yaml.JSONToYAML(data); err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	_, err = w.Write(data)
	return err
}
