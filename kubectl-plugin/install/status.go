package install

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"koordinator.sh/koord/kubectl-plugin/failon"
	"koordinator.sh/koord/kubectl-plugin/printer"
)

const statusLong = `Show what is installed and whether it works: the release, the components with their leaders, the diagnostics API, the
resource definitions and the configuration.

Components that run outside the cluster, as in the sandbox, are judged by the leases they hold.`

const statusExamples = `  # Show whether everything works
  %[1]s status

  # Exit with 79 in a script if something does not work
  %[1]s status --fail-on error

  # Print whether the diagnostics API is available
  %[1]s status -o json | jq -r .api.state`

// StatusOptions are the flags of status.
type StatusOptions struct {
	genericiooptions.IOStreams
	target
	failOn    failon.Flag
	noHeaders bool
	clock     clock.PassiveClock
	look      func() printer.Options
}

// NewCmdStatus returns the command status.
func NewCmdStatus(getter genericclioptions.RESTClientGetter, streams genericiooptions.IOStreams, clock clock.PassiveClock, look func() printer.Options) *cobra.Command {
	o := &StatusOptions{IOStreams: streams, clock: clock, look: look}
	cmd := &cobra.Command{
		Use:     "status",
		Short:   "Show what is installed and whether it works",
		Long:    statusLong,
		Example: statusExamples,
		Args:    cobra.NoArgs,
		RunE:    runner(o, getter),
	}
	o.target.addFlags(cmd)
	o.failOn.AddTo(cmd)
	cmd.Flags().BoolVar(&o.noHeaders, "no-headers", false, "Do not print headers")
	return cmd
}

// Validate checks what can be checked without a cluster.
func (o *StatusOptions) Validate() error {
	if err := o.failOn.Validate(); err != nil {
		return usageError{err}
	}
	return o.output.validate()
}

// Run asks the cluster and prints.
func (o *StatusOptions) Run(ctx context.Context, getter genericclioptions.RESTClientGetter) error {
	c, err := newCollector(getter, o.clock, o.target.options())
	if err != nil {
		return err
	}
	status, err := c.collect(ctx, o.namespace)
	if err != nil {
		return err
	}
	return o.show(status)
}

// show prints the parts on standard output, and on standard error what could not be seen and what is wrong.
func (o *StatusOptions) show(status *InstallationStatus) error {
	options := o.look()
	for _, reason := range status.Incomplete {
		fmt.Fprintln(o.ErrOut, options.Say("incomplete: "+reason))
	}
	if !o.output.text() {
		if err := o.output.print(o.Out, status); err != nil {
			return err
		}
		return o.failOn.Check(status.Findings)
	}
	options.NoHeaders = o.noHeaders
	if err := printer.Parts(o.Out, parts(status, options.Now), options); err != nil {
		return err
	}
	if err := printer.Findings(o.ErrOut, status.Findings, options); err != nil {
		return err
	}
	return o.failOn.Check(status.Findings)
}
