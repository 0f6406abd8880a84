package install

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"
)

// outputFlag is -o: text for people when empty, else json, yaml or what the command has beside.
type outputFlag struct {
	format  string
	formats []string
}

func (o *outputFlag) addFlags(cmd *cobra.Command, more ...string) {
	o.formats = append([]string{"json", "yaml"}, more...)
	cmd.Flags().StringVarP(&o.format, "output", "o", "", "Output format, one of: "+strings.Join(o.formats, ", "))
	must(cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(o.formats, cobra.ShellCompDirectiveNoFileComp)))
}

func (o *outputFlag) text() bool { return o.format == "" }

func (o *outputFlag) validate() error {
	if o.format == "" || slices.Contains(o.formats, o.format) {
		return nil
	}
	return usageError{fmt.Errorf("output format %q: must be one of %s", o.format, strings.Join(o.formats, ", "))}
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
