// Command koord-runtime-proxy stands between kubelet and a container runtime without NRI, and has containers made as the node's
// agent wants them.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/cmd/internal/logflags"
	"koordinator.sh/koord/runtimeproxy"
)

// version is set by the linker.
var version = "devel"

func main() {
	if err := newCommand().Execute(); err != nil {
		tell(os.Stderr, err)
		os.Exit(1)
	}
}

// tell writes an error, and what to do about it where that is known.
func tell(w io.Writer, err error) {
	fmt.Fprintf(w, "error: %v\n", err)
	coded, ok := finding.From(err)
	if !ok {
		return
	}
	if coded.Hint != "" {
		fmt.Fprintf(w, "hint: %s\n", coded.Hint)
	}
	fmt.Fprintf(w, "%s: see koordctl why %s\n", coded.Code, coded.Code)
}

func newCommand() *cobra.Command {
	options := runtimeproxy.NewOptions()
	cmd := &cobra.Command{
		Use:           "koord-runtime-proxy",
		Short:         "Forward CRI calls to a container runtime and call hook servers for containers",
		Version:       version,
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cmd.SilenceUsage = true
			return run(cmd.Context(), options)
		},
	}
	options.AddFlags(cmd.Flags())
	logflags.Add(cmd.Flags())
	return cmd
}

func run(ctx context.Context, options *runtimeproxy.Options) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	defer klog.Flush()
	proxy, err := runtimeproxy.New(options)
	if err != nil {
		return err
	}
	return proxy.Run(ctx)
}
