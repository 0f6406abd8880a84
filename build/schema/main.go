// Command schema writes the documentation page of the kinds that koordctl answers with, from their OpenAPI definitions.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/kube-openapi/pkg/validation/spec"

	"koordinator.sh/koord/controllers/diagnostics/openapi"
)

func main() {
	out := flag.String("out", "docs", "directory to write the page to")
	flag.Parse()
	if err := os.WriteFile(filepath.Join(*out, "schema.md"), []byte(page(definitions())), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// definitions are the schemas of all types of the group, by their names. What they refer to is named as it is.
func definitions() map[string]spec.Schema {
	out := map[string]spec.Schema{}
	for name, definition := range openapi.GetOpenAPIDefinitions(spec.MustCreateRef) {
		if own, is := ownName(name); is {
			out[own] = definition.Schema
		}
	}
	return out
}
