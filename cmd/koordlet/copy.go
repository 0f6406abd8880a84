package main

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"koordinator.sh/koord/agent/host/kubelet"
)

// newCopyCommand is what another container of the agent's pod runs, so that the agent itself sees nothing else of kubelet's directory.
func newCopyCommand() *cobra.Command {
	options := kubelet.CopyOptions{From: "/var/lib/kubelet", Every: 10 * time.Second, Clock: clock.RealClock{}}
	cmd := &cobra.Command{
		Use:           "copy-kubelet-files",
		Short:         "Copy what the agent reads of kubelet's directory: the configuration, and which pods own CPUs",
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cmd.SilenceUsage = true
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			defer klog.Flush()
			return kubelet.Copy(ctx, options)
		},
	}
	cmd.Flags().StringVar(&options.From, "from", options.From, "Kubelet's own --root-dir")
	cmd.Flags().StringVar(&options.To, "to", options.To, "Directory for the copies")
	cmd.Flags().DurationVar(&options.Every, "every", options.Every, "Time between two looks; 0 looks once and ends")
	_ = cmd.MarkFlagRequired("to") // the flag is there
	return cmd
}
