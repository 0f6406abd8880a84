package install

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"koordinator.sh/koord/deploy/release"
)

const statusLong = `Show what is installed and whether it works: the release, the components with their leaders, the diagnostics API, the
resource definitions and the configuration.

Components that run outside the cluster, as in the sandbox, are judged by the leases they hold.`

const statusExamples = `  # Is everything up?
  %[1]s status

  # Is the diagnostics API available?
  %[1]s status -o json | jq -r .api.state`

// StatusOptions are the flags of status.
type StatusOptions struct {
	genericiooptions.IOStreams
	target
	output    outputFlag
	noHeaders bool
	program   string
	clock     clock.PassiveClock
}

// NewCmdStatus returns the command status.
func NewCmdStatus(getter genericclioptions.RESTClientGetter, streams genericiooptions.IOStreams, clock clock.PassiveClock) *cobra.Command {
	o := &StatusOptions{IOStreams: streams, clock: clock}
	cmd := &cobra.Command{
		Use:     "status",
		Short:   "Show what is installed and whether it works",
		Long:    statusLong,
		Example: statusExamples,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cmd.SilenceUsage = true
			if err := o.Complete(getter); err != nil {
				return err
			}
			if err := o.Validate(); err != nil {
				return err
			}
			o.program = cmd.Root().CommandPath()
			return o.Run(cmd.Context(), getter)
		},
	}
	o.target.addFlags(cmd)
	o.output.addFlags(cmd)
	cmd.Flags().BoolVar(&o.noHeaders, "no-headers", false, "Leave out column headers")
	return cmd
}

// Complete reads the namespace.
func (o *StatusOptions) Complete(getter genericclioptions.RESTClientGetter) error {
	return o.target.complete(getter)
}

// Validate checks what can be checked without a cluster.
func (o *StatusOptions) Validate() error { return o.output.validate() }

// Run asks the cluster and prints.
func (o *StatusOptions) Run(ctx context.Context, getter genericclioptions.RESTClientGetter) error {
	config, err := getter.ToRESTConfig()
	if err != nil {
		return fmt.Errorf("read the client configuration: %w", err)
	}
	config = rest.CopyConfig(config)
	config.QPS, config.Burst = 50, 100
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("prepare the client: %w", err)
	}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("prepare the client: %w", err)
	}
	find := func(ctx context.Context) (*release.Release, error) {
		return release.Status(ctx, getter, o.target.options())
	}
	c := &collector{client: client, dynamic: objects, clock: o.clock, release: find, program: o.program}
	status, err := c.collect(ctx, o.namespace)
	if err != nil {
		return err
	}
	for _, reason := range status.Incomplete {
		fmt.Fprintf(o.ErrOut, "incomplete: %s\n", reason)
	}
	if !o.output.text() {
		return o.output.print(o.Out, status)
	}
	if err := writeStatus(o.Out, status, o.clock.Now(), o.noHeaders); err != nil {
		return err
	}
	writeFindings(o.ErrOut, status.Findings)
	return nil
}
