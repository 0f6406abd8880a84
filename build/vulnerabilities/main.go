// Vulnerabilities reads what govulncheck prints with -format json and prints the vulnerabilities in packages that are imported. It
// fails when there is one that is neither in the standard library nor accepted.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	accepted := flag.String("accepted", "", "File with the ids of vulnerabilities that are accepted, one a line, each with its reason")
	flag.Parse()
	if err := run(os.Stdin, os.Stdout, *accepted); err != nil {
		fmt.Fprintln(os.Stderr, "vulncheck: error:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer, acceptedFile string) error {
	found, err := readFindings(in)
	if err != nil {
		return fmt.Errorf("read the output of govulncheck: %w", err)
	}
	accepted := map[string]string{}
	if acceptedFile != "" {
		raw, err := os.ReadFile(acceptedFile)
		if err != nil {
			return fmt.Errorf("read the accepted vulnerabilities: %w", err)
		}
		if accepted, err = readAccepted(string(raw)); err != nil {
			return fmt.Errorf("read %s: %w", acceptedFile, err)
		}
	}
	return report(out, found, accepted)
}
