// Command koord-descheduler moves pods from nodes where they should not be to others.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"koordinator.sh/koord/cmd/internal/logflags"
	"koordinator.sh/koord/descheduler/app"
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
		Use:   "koord-descheduler",
		Short: "Rebalance pods by what the nodes really use",
		Long: `koord-descheduler finds pods that should run elsewhere, such as pods of overutilized nodes, and moves them with
PodMigrationJobs. Of several replicas, the one that holds the lease works; the others stand by.`,
		Version:       version,
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cmd.SilenceUsage = true
			ctrl.SetLogger(klog.Background().V(1)) // its messages; those about moves do not go through it
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
