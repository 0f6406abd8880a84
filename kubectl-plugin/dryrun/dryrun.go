// Package dryrun is the flag --dry-run, as kubectl has it: none, client or server.
package dryrun

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"
)

// Values of the flag.
const (
	None   = "none"
	Client = "client"
	Server = "server"
)

var values = []string{None, Client, Server}

// Flag is --dry-run.
type Flag string

// AddTo adds the flag to a command; help says what is not done. Without a value it means server, for that is what finds most.
func (f *Flag) AddTo(cmd *cobra.Command, help string) {
	cmd.Flags().StringVar((*string)(f), "dry-run", None, help+": none, client or server; without a value, server")
	cmd.Flags().Lookup("dry-run").NoOptDefVal = Server
	if err := cmd.RegisterFlagCompletionFunc("dry-run", cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		// The flag was added two lines before.
		panic(err)
	}
}

// Validate refuses a value that there is not.
func (f *Flag) Validate() error {
	if !slices.Contains(values, string(*f)) {
		return fmt.Errorf("--dry-run %q: must be none, client or server", *f)
	}
	return nil
}

// On says whether nothing is to be changed.
func (f *Flag) On() bool { return *f == Client || *f == Server }

// Suffix follows what would have been done, as in kubectl's output.
func (f *Flag) Suffix() string {
	switch *f {
	case Client:
		return " (dry run)"
	case Server:
		return " (server dry run)"
	}
	return ""
}
