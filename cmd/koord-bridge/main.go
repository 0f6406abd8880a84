// Command koord-bridge shares the batch resources of nodes with schedulers outside of Kubernetes, such as Hadoop YARN.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"koordinator.sh/koord/bridge/app"
	"koordinator.sh/koord/cmd/internal/logflags"
)

// version is set by the linker.
var version = "devel"

func main() {
	if err := newCommand().Execute(); err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		os.Exit(1)
	}
}

func newCommand() *cobra.Command {
	options := app.NewOptions()
	cmd := &cobra.Command{
		Use:   "koord-bridge",
		Short: "Share batch resources with schedulers outside of Kubernetes",
		Long: `koord-bridge gives schedulers outside of Kubernetes, such as Hadoop YARN, what is free of the batch resources of nodes, and
has Kubernetes count it as taken. Nothing is given away twice. Of several replicas, the one that holds the lease works.`,
		Version:       version,
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cmd.SilenceUsage = true
			ctrl.SetLogger(klog.Background().V(1)) // its messages; those of the bridge do not go through it
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			defer klog.Flush()
			return app.Run(ctx, options)
		},
	}
	options.AddFlags(cmd.Flags())
	logflags.Add(cmd.Flags())
	return cmd
}
