package install

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"
)

// outputFlag is -o: text for people when empty, else json or yaml.
type outputFlag struct{ format string }

func (o *outputFlag) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&o.format, "output", "o", "", "Output format, one of: json, yaml")
	must(cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"json", "yaml"}, cobra.ShellCompDirectiveNoFileComp)))
}

func (o *outputFlag) text() bool { return o.format == "" }

func (o *outputFlag) validate() error {
	switch o.format {
	case "", "json", "yaml":
		return nil
	}
	return usageError{fmt.Errorf("output format %q: must be json or yaml", o.format)}
}

func (o *outputFlag) print(w io.Writer, answer any) error {
	data, err := json.MarshalIndent(answer, "", "    ")
	if err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	if o.format == "yaml" {
		if data, err = yaml.JSONToYAML(data); err != nil {
			return fmt.Errorf("encode the answer: %w", err)
		}
		_, err = w.Write(data)
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", data)
	return err
}
