// Package deploy holds the Helm chart, the only source of the system's manifests, as files compiled into the program.
package deploy

import (
	"embed"
	"fmt"
	"io/fs"
)

//go:embed all:koordinator
var files embed.FS

// Chart returns the chart's files: Chart.yaml, values.yaml, templates/ and crds/ at the root.
func Chart() (fs.FS, error) {
	chart, err := fs.Sub(files, "koordinator")
	if err != nil {
		return nil, fmt.Errorf("open the embedded chart: %w", err)
	}
	return chart, nil
}
