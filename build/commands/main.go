// Command commands writes the documentation pages of koordctl's commands, and of what `koordctl check` verifies, from the commands and
// the checks themselves.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	kubectlplugin "koordinator.sh/koord/kubectl-plugin"
	"koordinator.sh/koord/kubectl-plugin/check"
)

func main() {
	out := flag.String("out", "docs", "directory to write the pages to")
	flag.Parse()
	for name, text := range map[string]string{"commands.md": kubectlplugin.Reference(), "checks.md": check.Reference()} {
		if err := os.WriteFile(filepath.Join(*out, name), []byte(text), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "error:", err)
			os.Exit(1)
		}
	}
}
