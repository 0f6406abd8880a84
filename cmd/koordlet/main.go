// Command koordlet is the agent of a node: it measures the node, and protects what runs on it.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"

	"koordinator.sh/koord/agent/koordlet"
	"koordinator.sh/koord/cmd/internal/logflags"
)

// version is set by the linker.
var version = "devel"

func main() {
	koordlet.SetGC()
	if err := newCommand().Execute(); err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		os.Exit(1)
	}
}

func newCommand() *cobra.Command {
	options, kubeconfig := koordlet.NewOptions(), ""
	cmd := &cobra.Command{
		Use:           "koordlet",
		Short:         "Run the node agent: measure the node and enforce QoS",
		Version:       version,
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cmd.SilenceUsage = true
			config, err := restConfig(kubeconfig)
			if err != nil {
				return fmt.Errorf("read kubeconfig: %w", err)
			}
			options.RESTConfig = config
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			defer klog.Flush()
			return koordlet.Run(ctx, options)
		},
	}
	cmd.Flags().StringVar(&kubeconfig, "kubeconfig", "", "Path to a kubeconfig; empty uses the in-cluster configuration")
	options.AddFlags(cmd.Flags())
	logflags.Add(cmd.Flags())
	cmd.AddCommand(newCopyCommand())
	return cmd
}

// restConfig is that of a file, or of the pod's own service account where there is none.
func restConfig(kubeconfig string) (*rest.Config, error) {
	if kubeconfig == "" {
		return rest.InClusterConfig()
	}
	return clientcmd.BuildConfigFromFlags("", kubeconfig)
}
