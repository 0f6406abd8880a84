// Command koord-manager runs the controllers of the system and its diagnostics API.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"koordinator.sh/koord/cmd/internal/logflags"
	"koordinator.sh/koord/controllers/manager"
)

// version is set by the linker.
var version = "devel"

// gcPercent is how much memory may grow between collections, against what is in use; GOGC overrides it. The caches of a large
// cluster are most of that, and hardly change: half of Go's default saves more memory than it costs time.
const gcPercent = 50

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if err := newCommand().Execute(); err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		os.Exit(1)
	}
}

func newCommand() *cobra.Command {
	options := manager.NewOptions()
	cmd := &cobra.Command{
		Use:           "koord-manager",
		Short:         "Run the Koordinator controllers, admission webhooks and diagnostics API",
		Version:       version,
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cmd.SilenceUsage = true
			ctrl.SetLogger(klog.Background())
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			defer klog.Flush()
			return manager.Run(ctx, options)
		},
	}
	options.AddFlags(cmd.Flags())
	logflags.Add(cmd.Flags())
	return cmd
}
