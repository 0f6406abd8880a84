package sandbox

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/sandbox/scenario"
	"koordinator.sh/koord/sandbox/state"
)

// noScenario is the --scenario that creates no workloads.
const noScenario = "none"

func (o *upOptions) addUpFlags(cmd *cobra.Command) {
	o.addFlags(cmd)
	flags := cmd.Flags()
	flags.IntVar(&o.spec.Nodes, "nodes", 30, "Number of simulated nodes, 0 to 5000")
	flags.StringVar(&o.spec.Scenario, "scenario", scenario.Colocation, "Workloads to create, or \"none\"")
	flags.BoolVar(&o.spec.KubernetesOnly, "kubernetes-only", false, "Leave out koord-scheduler, koord-manager, koord-descheduler and the koordlets")
	flags.StringVar(&o.spec.Trace, "trace", "", "CSV file, or directory of them, whose recorded usage drives the services' load")
	flags.Uint64Var(&o.spec.Seed, "seed", 1, "Seed of the simulated load")
	flags.Float64Var(&o.spec.Speed, "speed", 1, "Simulated seconds per second, 1 to 3600")
	flags.IntVar(&o.spec.APIServerPort, "api-server-port", 0, "Port of the API server on loopback; 0 picks a free one")
	flags.StringVar(&o.spec.KubernetesBinaries, "kubernetes-bin", "", "Directory with the kube-apiserver and kube-controller-manager to run, for another version of Kubernetes")
	flags.BoolVar(&o.realNode, "real-node", false, "Make this machine a node too, with pods that really run; needs root")
	flags.BoolVar(&o.switchContext, "switch-context", false, "Make the sandbox the current kubectl context")
	scenarios := append(scenario.Names(), noScenario)
	_ = cmd.RegisterFlagCompletionFunc("scenario", cobra.FixedCompletions(scenarios, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.MarkFlagDirname("kubernetes-bin") // fails only for a flag that does not exist
}

// complete makes the spec of the flags and of what the sandbox was before.
func (o *upOptions) complete(cmd *cobra.Command) error {
	if err := o.target.complete(cmd); err != nil {
		return err
	}
	sandbox, err := o.sandbox()
	if err != nil {
		return err
	}
	if err := o.keep(cmd.Flags(), sandbox.Dir); err != nil {
		return err
	}
	o.spec.Name = o.name
	if o.realNode {
		if o.spec.RealNode, err = thisNode(); err != nil {
			return err
		}
	}
	bare := o.spec.KubernetesOnly && !cmd.Flags().Changed("scenario")
	if o.spec.Scenario == noScenario || bare || o.spec.Nodes == 0 {
		o.spec.Scenario = ""
	}
	if o.spec.Trace != "" {
		if o.spec.Trace, err = filepath.Abs(o.spec.Trace); err != nil {
			return fmt.Errorf("find trace %q: %w", o.spec.Trace, err)
		}
	}
	if o.spec.KubernetesBinaries != "" {
		if o.spec.KubernetesBinaries, err = filepath.Abs(o.spec.KubernetesBinaries); err != nil {
			return fmt.Errorf("find the programs of Kubernetes in %q: %w", o.spec.KubernetesBinaries, err)
		}
	}
	if err := o.validate(); err != nil {
		return usageError{finding.Wrap(err, finding.InvalidArgument, "see: "+cmd.CommandPath()+" --help")}
	}
	return nil
}

func (o *upOptions) validate() error {
	if name := o.spec.Scenario; name != "" && !slices.Contains(scenario.Names(), name) {
		return fmt.Errorf("unknown scenario %q: must be one of %q", name, append(scenario.Names(), noScenario))
	}
	return o.spec.Validate()
}

// keep takes over the options of a sandbox that was started before, where no flag says otherwise: its data is still
// there, and other defaults would delete nodes or install what it was to be without.
func (o *upOptions) keep(flags *pflag.FlagSet, dir state.Dir) error {
	if !dir.Exists() {
		return nil
	}
	was, err := dir.ReadSpec()
	if err != nil {
		return err
	}
	unless := func(flag string, take func()) {
		if !flags.Changed(flag) {
			take()
		}
	}
	unless("nodes", func() { o.spec.Nodes = was.Nodes })
	unless("kubernetes-only", func() { o.spec.KubernetesOnly = was.KubernetesOnly })
	unless("kubernetes-bin", func() { o.spec.KubernetesBinaries = was.KubernetesBinaries })
	unless("real-node", func() { o.realNode = was.RealNode != "" })
	unless("seed", func() { o.spec.Seed = was.Seed })
	unless("speed", func() { o.spec.Speed = was.Speed })
	unless("api-server-port", func() { o.spec.APIServerPort = was.APIServerPort })
	if couldChoose := !was.KubernetesOnly && was.Nodes > 0; couldChoose {
		unless("scenario", func() { o.spec.Scenario = was.Scenario })
	}
	if !o.spec.KubernetesOnly {
		unless("trace", func() { o.spec.Trace = was.Trace })
	}
	return nil
}
