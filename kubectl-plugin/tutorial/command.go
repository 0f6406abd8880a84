package tutorial

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/messages"
	"koordinator.sh/koord/sandbox/state"
)

// NewCommand returns `tutorial` for some tutorials. program is the name that koordctl was called by, language that of the reader once
// the flags are read.
func NewCommand(streams genericiooptions.IOStreams, program string, language func() messages.Language, tutorials []func() Tutorial) *cobra.Command {
	o := &options{IOStreams: streams, program: program, language: language, tutorials: tutorials}
	cmd := &cobra.Command{
		Use:   "tutorial [NAME]",
		Short: "Show co-location with a real engine, step by step",
		Long: "Show co-location with a real engine, step by step: what to do, the commands for it, and what one sees then. It runs on a\n" +
			"sandbox whose node is this machine, where services and engines really run. Without a name it lists the tutorials.",
		Example: fmt.Sprintf("  # List the tutorials\n"+
			"  %[1]s tutorial\n\n"+
			"  # Start a sandbox with this machine as its node, as root, and run a tutorial on it\n"+
			"  %[1]s sandbox up --name real --real-node --nodes 0\n"+
			"  %[1]s tutorial spark --name real", program),
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: o.completeNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			cmd.SilenceUsage = true
			if len(args) == 0 {
				return o.list()
			}
			return o.run(cmd.Context(), args[0])
		},
	}
	cmd.Flags().StringVar(&o.sandbox, "name", state.DefaultName, "Name of the sandbox")
	_ = cmd.RegisterFlagCompletionFunc("name", completeSandboxes) // fails only for a flag that does not exist
	cmd.Flags().DurationVar(&o.measure, "measure", defaultMeasure, "Time for which each situation is measured, at least 1s; the longer, the less the slowest requests differ between runs")
	cmd.Flags().StringVar(&o.page, "page", "", "File to write what the run has shown into, as Markdown")
	_ = cmd.MarkFlagFilename("page", "md") // as above
	return cmd
}

// options of the command.
type options struct {
	genericiooptions.IOStreams
	program   string
	language  func() messages.Language
	tutorials []func() Tutorial
	sandbox   string
	measure   time.Duration
	page      string
}

// defaultMeasure keeps a tutorial below ten minutes.
const defaultMeasure = 20 * time.Second

func (o *options) list() error {
	rows := [][]string{{"NAME", "DESCRIPTION"}}
	for _, tutorial := range o.tutorials {
		t := tutorial()
		rows = append(rows, []string{t.Name, t.Short})
	}
	s := &Session{Language: o.language()}
	_, err := fmt.Fprintln(o.Out, strings.Join(s.aligned(rows), "\n"))
	return err
}

func (o *options) run(ctx context.Context, name string) error {
	i := slices.IndexFunc(o.tutorials, func(tutorial func() Tutorial) bool {
		t := tutorial()
		return t.Name == name || slices.Contains(t.Aliases, name)
	})
	if i < 0 {
		return usageError{finding.Wrap(fmt.Errorf("tutorial %q not found", name), finding.InvalidArgument, o.program+" tutorial")}
	}
	t := o.tutorials[i]()
	if err := state.ValidateName(o.sandbox); err != nil {
		return usageError{finding.Wrap(err, finding.InvalidArgument, o.program+" sandbox list")}
	}
	if o.measure < time.Second {
		return usageError{finding.Wrap(fmt.Errorf("--measure %s: must be at least 1s", o.measure), finding.InvalidArgument, o.program+" tutorial "+t.Name+" --measure 1m")}
	}
	session, err := Open(ctx, o.program, o.sandbox, t)
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(session.Work) }() // a temporary directory
	session.Out, session.Progress, session.Language, session.MeasureFor = o.Out, o.ErrOut, o.language(), o.measure
	record, err := session.Play(ctx, t)
	if o.page != "" {
		err = errors.Join(err, os.WriteFile(o.page, []byte(Page(record)), 0o644))
	}
	return err
}

func (o *options) completeNames(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var names []cobra.Completion
	if len(args) == 0 {
		for _, tutorial := range o.tutorials {
			t := tutorial()
			names = append(names, cobra.CompletionWithDesc(t.Name, t.Short))
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func completeSandboxes(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	home, err := state.Home(os.Getenv)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names, _ := state.List(home) // none where they cannot be read
	return names, cobra.ShellCompDirectiveNoFileComp
}

// usageError is a wrong flag or argument; its exit code is that of usage errors.
type usageError struct{ error }

// ExitCode is 2.
func (usageError) ExitCode() int { return 2 }

// Unwrap returns the error.
func (e usageError) Unwrap() error { return e.error }
