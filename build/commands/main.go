// Command commands writes the documentation page of koordctl's commands from the commands themselves.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	kubectlplugin "koordinator.sh/koord/kubectl-plugin"
)

func main() {
	out := flag.String("out", "docs", "directory to write the page to")
	flag.Parse()
	if err := os.WriteFile(filepath.Join(*out, "commands.md"), []byte(kubectlplugin.Reference()), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}
