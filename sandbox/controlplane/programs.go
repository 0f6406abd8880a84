// Package controlplane holds the Kubernetes programs that are linked into koord-sandbox, each run as a process of its
// own under its own name. It is the only package of the sandbox that imports Kubernetes' server code.
package controlplane

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"          // the JSON log format
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // the client's metrics
	_ "k8s.io/component-base/metrics/prometheus/version"  // the version metric
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kwokconfig "sigs.k8s.io/kwok/pkg/config"
	kwok "sigs.k8s.io/kwok/pkg/kwok/cmd"
	kwoklog "sigs.k8s.io/kwok/pkg/log"
	kwoksignals "sigs.k8s.io/kwok/pkg/utils/signals"

	"koordinator.sh/koord/sandbox/component"
)

// Program runs one program with its arguments and returns its exit code.
type Program func(args []string) int

// Programs are the linked programs by the name of their component.
func Programs() map[string]Program {
	return map[string]Program{
		component.Etcd:              runEtcd,
		component.APIServer:         command(apiserver.NewAPIServerCommand),
		component.ControllerManager: command(controllermanager.NewControllerManagerCommand),
		component.KubeScheduler:     command(func() *cobra.Command { return scheduler.NewSchedulerCommand() }),
		component.Kwok:              runKwok,
	}
}

// command defers making the command, which sets process-wide state, until it is the one that runs.
func command(newCommand func() *cobra.Command) Program {
	return func(args []string) int {
		cmd := newCommand()
		cmd.SetArgs(args)
		return cli.Run(cmd)
	}
}

// runEtcd ends the process itself when etcd fails; etcd offers no other way to run its whole main.
func runEtcd(args []string) int {
	os.Args = append([]string{component.Etcd}, args...)
	etcdmain.Main(os.Args)
	return 0
}

func runKwok(args []string) int {
	// kwok reads its configuration's path from the process's arguments.
	os.Args = append([]string{component.Kwok}, args...)
	// Kubernetes' packages register a flag "version" for every command of the process; kwok registers its own.
	pflag.CommandLine = pflag.NewFlagSet(component.Kwok, pflag.ContinueOnError)
	flags := pflag.NewFlagSet(component.Kwok, pflag.ContinueOnError)
	flags.ParseErrorsAllowlist.UnknownFlags = true
	flags.Usage = func() {}
	ctx, err := kwokConfiguration(flags)
	if err == nil {
		cmd := kwok.NewCommand(ctx)
		cmd.PersistentFlags().AddFlagSet(flags)
		cmd.SetArgs(args)
		err = cmd.ExecuteContext(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		return 1
	}
	return 0
}

func kwokConfiguration(flags *pflag.FlagSet) (context.Context, error) {
	ctx := kwoksignals.SetupSignalContext()
	ctx, _ = kwoklog.InitFlags(ctx, flags)
	return kwokconfig.InitFlags(ctx, flags)
}
