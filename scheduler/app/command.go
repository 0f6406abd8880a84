package app

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apiserver/pkg/server"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/cli/globalflag"
	basecompatibility "k8s.io/component-base/compatibility"
	"k8s.io/component-base/featuregate"
	"k8s.io/component-base/logs"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/component-base/term"
	"k8s.io/component-base/version/verflag"
)

// NewCommand returns the koord-scheduler command.
func NewCommand() *cobra.Command {
	opts := NewOptions()
	command := &cobra.Command{
		Use:   "koord-scheduler",
		Short: "Schedule pods onto nodes by what the nodes really use",
		Long: `koord-scheduler is the Kubernetes scheduler with co-location plugins. It assigns pods that name one of its profiles
to nodes, by default those with schedulerName koord-scheduler, and explains its decisions on --diagnostics-port.

Without --config it runs with a built-in configuration: every default plugin of Kubernetes, and LoadAwareScheduling.`,
		SilenceUsage: true,
		Args:         cobra.NoArgs,
		PersistentPreRunE: func(*cobra.Command, []string) error {
			return opts.ComponentGlobalsRegistry.Set()
		},
		RunE: func(command *cobra.Command, _ []string) error {
			verflag.PrintAndExitIfRequested()
			return run(command, opts)
		},
	}
	verflag.AddFlags(opts.Flags.FlagSet("global"))
	globalflag.AddGlobalFlags(opts.Flags.FlagSet("global"), command.Name(), logs.SkipLoggingConfigurationFlags())
	for _, set := range opts.Flags.FlagSets {
		command.Flags().AddFlagSet(set)
	}
	columns, _, _ := term.TerminalSize(command.OutOrStdout())
	cliflag.SetUsageAndHelpFunc(command, *opts.Flags, columns)
	return command
}

// run starts the scheduler and returns when it has stopped.
func run(command *cobra.Command, opts *Options) error {
	gates := opts.ComponentGlobalsRegistry.FeatureGateFor(basecompatibility.DefaultKubeComponent)
	if err := logsapi.ValidateAndApply(opts.Logs, gates); err != nil {
		return fmt.Errorf("apply the logging flags: %w", err)
	}
	cliflag.PrintFlags(command.Flags())
	ctx, cancel := context.WithCancel(command.Context())
	defer cancel()
	signalled := server.SetupSignalContext()
	defer context.AfterFunc(signalled, cancel)()
	setGC()
	if err := awaitAPIServer(ctx, opts); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	scheduler, err := Setup(ctx, opts)
	if err != nil {
		return err
	}
	if mutable, ok := gates.(featuregate.MutableFeatureGate); ok {
		mutable.AddMetrics()
	}
	opts.ComponentGlobalsRegistry.AddMetrics()
	return scheduler.Run(ctx)
}
