package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// report prints the vulnerabilities, and what of the accepted ones was not found. It is an error when one must be fixed here.
func report(out io.Writer, found []vulnerability, accepted map[string]string) error {
	open, stale := 0, maps.Clone(accepted)
	for i := range found {
		v := &found[i]
		reason, known := accepted[v.id]
		delete(stale, v.id)
		switch {
		case known:
			fmt.Fprintf(out, "vulncheck: %s is accepted: %s\n", v.id, reason)
		case v.inStandardLibraryOnly():
			fmt.Fprintf(out, "vulncheck: %s is in the Go that builds: %s (%s)\n", v.id, v.summary, v.where())
		default:
			open++
			fmt.Fprintf(out, "vulncheck: error: %s: %s (%s)\n  https://pkg.go.dev/vuln/%s\n", v.id, v.summary, v.where(), v.id)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(stale)) {
		fmt.Fprintf(out, "vulncheck: %s is accepted and was not found\n", id)
	}
	if open > 0 {
		return fmt.Errorf("%d vulnerabilities in imported packages; update the modules, or list why the programs are not affected", open)
	}
	fmt.Fprintln(out, "vulncheck: no vulnerability has to be fixed here")
	return nil
}

// inStandardLibraryOnly says whether no module of go.mod has it.
func (v *vulnerability) inStandardLibraryOnly() bool {
	return !slices.ContainsFunc(v.places, func(p place) bool { return p.module != standardLibrary })
}

// where lists the modules and the versions that fix them.
func (v *vulnerability) where() string {
	var out []string
	for _, p := range v.places {
		out = append(out, fmt.Sprintf("%s %s, fixed in %s", p.module, p.version, cmp.Or(p.fixed, "no version")))
	}
	return strings.Join(out, "; ")
}
