package sandbox

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/sandbox/control"
	"koordinator.sh/koord/sandbox/launch"
	"koordinator.sh/koord/sandbox/state"
)

// upOptions are the flags of `sandbox up`.
type upOptions struct {
	genericiooptions.IOStreams
	target
	spec          state.Spec
	switchContext bool
}

func newUpCommand(streams genericiooptions.IOStreams) *cobra.Command {
	o := &upOptions{IOStreams: streams}
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Start a sandbox, or say that it runs",
		Example: "  # Start 30 simulated nodes with services and batch work on them\n" +
			"  koordctl sandbox up\n\n" +
			"  # Drive the services' load from recorded usage\n" +
			"  koordctl sandbox up --trace usage.csv\n\n" +
			"  # A bare control plane for another scheduler, with the custom resources installed\n" +
			"  koordctl sandbox up --name bare --kubernetes-only --nodes 0",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cmd.SilenceUsage = true
			if err := o.complete(cmd); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	o.addFlags(cmd)
	flags := cmd.Flags()
	flags.IntVar(&o.spec.Nodes, "nodes", 30, "Number of simulated nodes, 0 to 5000")
	flags.StringVar(&o.spec.Scenario, "scenario", "colocation", "Workloads to create, or \"none\"")
	flags.BoolVar(&o.spec.KubernetesOnly, "kubernetes-only", false, "Leave out koord-scheduler, koord-manager and the koordlets")
	flags.StringVar(&o.spec.Trace, "trace", "", "CSV file, or directory of them, whose recorded usage drives the services' load")
	flags.Uint64Var(&o.spec.Seed, "seed", 1, "Seed of the simulated load")
	flags.Float64Var(&o.spec.Speed, "speed", 1, "Simulated seconds per second, 1 to 3600")
	flags.IntVar(&o.spec.APIServerPort, "api-server-port", 0, "Port of the API server on loopback; 0 picks a free one")
	flags.BoolVar(&o.switchContext, "switch-context", false, "Make the sandbox the current kubectl context")
	return cmd
}

func (o *upOptions) complete(cmd *cobra.Command) error {
	o.spec.Name = o.name
	if o.spec.Scenario == "none" || (o.spec.KubernetesOnly && !cmd.Flags().Changed("scenario")) || o.spec.Nodes == 0 {
		o.spec.Scenario = ""
	}
	if o.spec.Trace != "" {
		path, err := filepath.Abs(o.spec.Trace)
		if err != nil {
			return fmt.Errorf("find trace %q: %w", o.spec.Trace, err)
		}
		o.spec.Trace = path
	}
	if err := o.spec.Validate(); err != nil {
		return finding.Wrap(err, finding.InvalidArgument, "see: koordctl sandbox up --help")
	}
	return nil
}

func (o *upOptions) run(ctx context.Context) error {
	dir, err := o.dir()
	if err != nil {
		return err
	}
	started := time.Now()
	running, err := o.alreadyRunning(ctx, dir)
	if err != nil || running {
		return err
	}
	if err := checkTrace(o.spec.Trace); err != nil {
		return err
	}
	if o.spec.Binaries, err = launch.Binaries(o.spec.KubernetesOnly); err != nil {
		return err
	}
	if err := launch.Start(ctx, dir, o.spec); err != nil {
		return err
	}
	progress := newProgress(o.ErrOut, started)
	status, err := launch.Await(ctx, dir, progress.show)
	progress.end()
	if interrupted(err) {
		fmt.Fprintln(o.ErrOut, "The sandbox goes on starting; see: koordctl sandbox status, koordctl sandbox down")
		return err
	}
	if err != nil {
		return err
	}
	return o.announce(status, time.Since(started))
}

// alreadyRunning says so when there is nothing to start, and clears away a sandbox whose start had failed.
func (o *upOptions) alreadyRunning(ctx context.Context, dir state.Dir) (bool, error) {
	status, err := control.NewClient(dir).Status(ctx)
	if errors.Is(err, control.ErrNotRunning) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if status.Phase == control.Failed {
		fmt.Fprintf(o.ErrOut, "Sandbox %q had failed (%s); starting it again.\n", o.name, status.Message)
		return false, launch.Stop(ctx, dir)
	}
	fmt.Fprintf(o.Out, "sandbox/%s is already running (%d nodes, context %s)\n", o.name, status.Spec.Nodes, status.Context)
	wanted := o.spec
	wanted.Binaries = status.Spec.Binaries
	if wanted != status.Spec {
		fmt.Fprintln(o.ErrOut, "It was started with other options; to change them: koordctl sandbox down, then up again.")
	}
	return true, nil
}

func (o *upOptions) announce(status *control.Status, took time.Duration) error {
	current, err := mergeKubeconfig(status.Kubeconfig, status.Context, o.switchContext)
	if err != nil {
		return err
	}
	fmt.Fprintf(o.Out, "sandbox/%s is up (%d nodes, %s)\n", o.name, status.Spec.Nodes, took.Round(100*time.Millisecond))
	if !current {
		fmt.Fprintf(o.ErrOut, "Your current kubectl context is another one. Select this one with:\n  kubectl config use-context %s\n", status.Context)
	}
	if status.Spec.Scenario != "" {
		fmt.Fprint(o.ErrOut, "Now try:\n  koordctl top nodes\n  koordctl explain pod -n analytics monthly-report\n  koordctl tui\n")
	}
	return nil
}
