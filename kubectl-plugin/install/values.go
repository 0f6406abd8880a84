package install

import (
	"fmt"
	"io"
	"maps"
	"os"

	"github.com/spf13/cobra"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/strvals"
	"sigs.k8s.io/yaml"

	"koordinator.sh/koord/api/finding"
)

// largestValues bounds a file of values, in bytes: a release is stored in a Secret, which holds at most 1 MiB.
const largestValues = 4 << 20

// valueFlags are --set and --values, with Helm's meaning: files in order, then --set in order, later ones win.
type valueFlags struct {
	files []string
	sets  []string
}

func (v *valueFlags) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&v.sets, "set", nil, "Set a chart value, such as colocation.enable=false (can be repeated)")
	cmd.Flags().StringArrayVarP(&v.files, "values", "f", nil, "Read chart values from a YAML file, - for standard input (can be repeated)")
	must(cmd.MarkFlagFilename("values", "yaml", "yml", "json"))
}

// merge reads the files and applies the settings.
func (v *valueFlags) merge(stdin io.Reader) (map[string]any, error) {
	values := map[string]any{}
	for _, name := range v.files {
		data, err := readValues(name, stdin)
		if err != nil {
			return nil, finding.Wrap(fmt.Errorf("read values %q: %w", name, err), finding.InvalidArgument, "--values takes a file, or - for standard input")
		}
		var next map[string]any
		if err := yaml.Unmarshal(data, &next); err != nil {
			return nil, usageError{finding.Wrap(fmt.Errorf("parse values %q: %w", name, err), finding.InvalidArgument, "--values takes a YAML file such as: colocation: {enable: false}")}
		}
		values = loader.MergeMaps(values, next)
	}
	values = maps.Clone(values)
	for _, set := range v.sets {
		if err := strvals.ParseInto(set, values); err != nil {
			return nil, usageError{finding.Wrap(fmt.Errorf("parse --set %q: %w", set, err), finding.InvalidArgument, "--set takes KEY=VALUE, such as --set colocation.enable=false")}
		}
	}
	return values, nil
}

// readValues reads a file of values, or standard input for -.
func readValues(name string, stdin io.Reader) ([]byte, error) {
	in := stdin
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }() // it was only read
		in = file
	}
	data, err := io.ReadAll(io.LimitReader(in, largestValues+1))
	if err == nil && len(data) > largestValues {
		err = fmt.Errorf("more than %d bytes", largestValues)
	}
	return data, err
}
