// Package koordlets is the sandbox's process of simulated koordlets: one agent for each of its nodes.
package koordlets

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"

	"koordinator.sh/koord/agent/fleet"
	"koordinator.sh/koord/agent/host/trace"
	"koordinator.sh/koord/agent/serving"
)

// arguments of the process.
type arguments struct {
	kubeconfig string
	trace      string
	options    fleet.Options
}

// Main runs the agents until a signal ends them and returns the process's exit code.
func Main(args []string) int {
	var a arguments
	flags := flag.NewFlagSet("koordlets", flag.ContinueOnError)
	klog.InitFlags(flags)
	flags.StringVar(&a.kubeconfig, "kubeconfig", "", "Path to the kubeconfig of the simulated koordlets")
	flags.StringVar(&a.trace, "trace", "", "CSV file with recorded usage, or a directory of such files")
	flags.Uint64Var(&a.options.Seed, "seed", 1, "Seed of the simulation")
	flags.Float64Var(&a.options.Speed, "speed", 1, "Simulated seconds per second of real time")
	flags.DurationVar(&a.options.ReportInterval, "report-interval", 0, "Report interval, at least 1s; 0 uses the interval in the NodeMetrics")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := a.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		return 1
	}
	return 0
}

func (a *arguments) run(ctx context.Context) error {
	config, err := clientcmd.BuildConfigFromFlags("", a.kubeconfig)
	if err != nil {
		return fmt.Errorf("read kubeconfig: %w", err)
	}
	config.UserAgent = "koordlet-simulated"
	a.options.RESTConfig = config
	a.options.Serving = serving.NewOptions()
	a.options.Serving.BindAddress, a.options.Serving.SecurePort = net.IPv4(127, 0, 0, 1), -1
	if a.trace != "" {
		if a.options.Trace, err = trace.Open(a.trace); err != nil {
			return err
		}
	}
	return fleet.Run(ctx, a.options)
}
