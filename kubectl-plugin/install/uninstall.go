package install

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"koordinator.sh/koord/deploy/release"
)

const uninstallLong = `Remove the system: the release with its workloads, rights, configuration and diagnostics API, and the certificates and
leases that the components left. The resource definitions stay, because removing them would remove every object made of
them; so do batch and mid resources in the status of nodes until a kubelet or another manager replaces them.`

const uninstallExamples = `  # What would be removed?
  %[1]s uninstall --dry-run

  # Remove without a question
  %[1]s uninstall --yes`

// UninstallOptions are the flags of uninstall.
type UninstallOptions struct {
	genericiooptions.IOStreams
	mutation
	output outputFlag
	yes    bool
	// Interactive says whether a person can answer a question on In.
	Interactive func() bool
}

// NewCmdUninstall returns the command uninstall.
func NewCmdUninstall(getter genericclioptions.RESTClientGetter, streams genericiooptions.IOStreams) *cobra.Command {
	o := &UninstallOptions{IOStreams: streams, Interactive: func() bool { return isTerminal(streams.In) }}
	cmd := &cobra.Command{
		Use:     "uninstall",
		Short:   "Remove the system from the cluster",
		Long:    uninstallLong,
		Example: uninstallExamples,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cmd.SilenceUsage = true
			if err := o.Complete(getter); err != nil {
				return err
			}
			if err := o.Validate(); err != nil {
				return err
			}
			return o.Run(cmd.Context(), getter)
		},
	}
	o.mutation.addFlags(cmd)
	o.output.addFlags(cmd)
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "Do not ask")
	return cmd
}

func isTerminal(in io.Reader) bool {
	file, ok := in.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// Complete reads the namespace.
func (o *UninstallOptions) Complete(getter genericclioptions.RESTClientGetter) error {
	return o.target.complete(getter)
}

// Validate checks what can be checked without a cluster.
func (o *UninstallOptions) Validate() error {
	if err := o.output.validate(); err != nil {
		return err
	}
	if err := o.mutation.validate(); err != nil {
		return err
	}
	if o.dryRun == dryRunNone && !o.yes && !o.Interactive() {
		return usageError{errors.New("standard input is not a terminal, so nobody can be asked: confirm with --yes, or look first with --dry-run")}
	}
	return nil
}

// Run asks and removes.
func (o *UninstallOptions) Run(ctx context.Context, getter genericclioptions.RESTClientGetter) error {
	options := o.mutation.options()
	if o.dryRun == dryRunNone && !o.yes {
		found, err := release.Status(ctx, getter, options)
		if err != nil {
			return err
		}
		agreed, err := o.ask(found)
		if err != nil || !agreed {
			return err
		}
	}
	result, err := release.Uninstall(ctx, getter, options)
	if err != nil {
		return err
	}
	if !o.output.text() {
		return o.output.print(o.Out, newResult(result))
	}
	if err := writeChanges(o.Out, result.Changes, result.DryRun); err != nil {
		return err
	}
	_, err = fmt.Fprintf(o.Out, "release/%s uninstalled%s\n", result.Release.Name, suffix(result.DryRun))
	return err
}

// ask returns whether the user agrees.
func (o *UninstallOptions) ask(found *release.Release) (bool, error) {
	fmt.Fprintf(o.ErrOut, "Remove release %s (revision %d) from namespace %s? [y/N] ", found.Name, found.Revision, found.Namespace)
	answer, err := bufio.NewReader(o.In).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("read the answer: %w", err)
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return true, nil
	}
	fmt.Fprintln(o.ErrOut, "Nothing was removed.")
	return false, nil
}
