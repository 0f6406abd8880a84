// Command koord-yarn-agent lets koordlet limit, measure and end the containers that YARN's NodeManager runs on a node.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"

	"koordinator.sh/koord/agent/yarnagent"
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
	options := yarnagent.NewOptions()
	cmd := &cobra.Command{
		Use:   "koord-yarn-agent",
		Short: "Let koordlet manage the containers of YARN's NodeManager",
		Long: `koord-yarn-agent runs beside YARN's NodeManager. It moves the processes of containers into cgroups below that of best-effort pods,
and lets koordlet list and kill containers on a unix socket, by the protocol of yarn-copilot-agent.`,
		Version:       version,
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cmd.SilenceUsage = true
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			defer klog.Flush()
			return yarnagent.Run(ctx, options)
		},
	}
	options.AddFlags(cmd.Flags())
	logflags.Add(cmd.Flags())
	return cmd
}
