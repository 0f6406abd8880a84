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
)

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
			return nil, fmt.Errorf("read values %q: %w", name, err)
		}
		var next map[string]any
		if err := yaml.Unmarshal(data, &next); err != nil {
			return nil, usageError{fmt.Errorf("parse values %q: %w", name, err)}
		}
		values = loader.MergeMaps(values, next)
	}
	values = maps.Clone(values)
	for _, set := range v.sets {
		if err := strvals.ParseInto(set, values); err != nil {
			return nil, usageError{fmt.Errorf("parse --set %q: %w", set, err)}
		}
	}
	return values, nil
}

func readValues(name string, stdin io.Reader) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(stdin)
	}
	return os.ReadFile(name)
}
