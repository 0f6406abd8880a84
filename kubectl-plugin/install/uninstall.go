package install

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"koordinator.sh/koord/deploy/release"
	"koordinator.sh/koord/kubectl-plugin/dryrun"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/kubectl-plugin/prompt"
)

const uninstallLong = `Remove the system: the release with its workloads, rights, configuration and diagnostics API, and the certificates and
leases that the components left. The resource definitions stay, because removing them would remove every object made of
them; so do batch and mid resources in the status of nodes until a kubelet or another manager replaces them.`

const uninstallExamples = `  # Show what would be removed
  %[1]s uninstall --dry-run

  # Remove without asking
  %[1]s uninstall --yes`

// UninstallOptions are the flags of uninstall.
type UninstallOptions struct {
	mutation
	yes bool
	// Interactive says whether a person can answer a question on In.
	Interactive func() bool
}

// NewCmdUninstall returns the command uninstall; look is as in NewCommands.
func NewCmdUninstall(getter genericclioptions.RESTClientGetter, streams genericiooptions.IOStreams, look func() printer.Options) *cobra.Command {
	o := &UninstallOptions{mutation: mutation{IOStreams: streams, look: look}, Interactive: func() bool { return isTerminal(streams.In) }}
	cmd := &cobra.Command{
		Use:     "uninstall",
		Short:   "Remove the system from the cluster",
		Long:    uninstallLong,
		Example: uninstallExamples,
		Args:    cobra.NoArgs,
		RunE:    runner(o, getter),
	}
	o.mutation.addFlags(cmd)
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "Do not ask for confirmation")
	return cmd
}

func isTerminal(in io.Reader) bool {
	file, ok := in.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// Validate checks what can be checked without a cluster.
func (o *UninstallOptions) Validate() error {
	if err := o.mutation.Validate(); err != nil {
		return err
	}
	if !o.dryRun.On() && !o.yes && !o.Interactive() {
		return usageError{errors.New("standard input is not a terminal, so there is no prompt: confirm with --yes, or look first with --dry-run")}
	}
	return nil
}

// Run asks and removes.
func (o *UninstallOptions) Run(ctx context.Context, getter genericclioptions.RESTClientGetter) error {
	options := o.mutation.options()
	if !o.dryRun.On() && !o.yes {
		found, err := release.Status(ctx, getter, options)
		if err != nil {
			return err
		}
		agreed, err := o.ask(ctx, found)
		if err != nil || !agreed {
			return err
		}
	}
	result, err := release.Uninstall(ctx, getter, options)
	if err != nil {
		return err
	}
	happened := fmt.Sprintf("release/%s uninstalled", result.Release.Name)
	if o.dryRun == dryrun.Client {
		return o.reportPlan(&plan{manifests: result.Release.Manifest, result: result}, happened)
	}
	return o.report(result, happened)
}

// ask returns whether the user agrees.
func (o *UninstallOptions) ask(ctx context.Context, found *release.Release) (bool, error) {
	question := fmt.Sprintf("Remove release %s (revision %d) from namespace %s?", found.Name, found.Revision, found.Namespace)
	agreed, err := prompt.Confirm(ctx, o.In, o.ErrOut, o.look().Say(question))
	if err == nil && !agreed {
		o.tell("Nothing was removed.")
	}
	return agreed, err
}
