package sandbox

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// downTimeout is how long all processes together may take to end.
const downTimeout = time.Minute

// downOptions are the flags of `sandbox down`.
type downOptions struct {
	genericiooptions.IOStreams
	target
	purge bool
}

func newDownCommand(streams genericiooptions.IOStreams) *cobra.Command {
	o := &downOptions{IOStreams: streams}
	cmd := &cobra.Command{
		Use:   "down",
		Short: "Stop a sandbox; its data stays unless --purge",
		Long:  "Stop a sandbox. No process, port or lock is left behind, also after a crash. The data stays for the next `up`.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.complete(cmd); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	o.addFlags(cmd)
	cmd.Flags().BoolVar(&o.purge, "purge", false, "Delete the sandbox's data and its kubectl context too")
	return cmd
}

func (o *downOptions) run(ctx context.Context) error {
	sandbox, err := o.existing()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, downTimeout)
	defer cancel()
	if err := sandbox.Stop(ctx); err != nil {
		return err
	}
	if !o.purge {
		fmt.Fprintf(o.Out, "sandbox/%s is down\n", o.name)
		return nil
	}
	if err := sandbox.Dir.Remove(); err != nil {
		return err
	}
	if err := forgetKubeconfig(sandbox.Context()); err != nil {
		return err
	}
	fmt.Fprintf(o.Out, "sandbox/%s is down and deleted\n", o.name)
	return nil
}
