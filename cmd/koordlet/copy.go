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
		Short:         "Copy the kubelet files that koordlet reads: the configuration and the CPU manager state",
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
	cmd.Flags().StringVar(&options.From, "from", options.From, "--root-dir of kubelet")
	cmd.Flags().StringVar(&options.To, "to", options.To, "Target directory")
	cmd.Flags().DurationVar(&options.Every, "every", options.Every, "Interval between copies; 0 copies once and exits")
	_ = cmd.MarkFlagRequired("to") // the flag is there
	return cmd
}
