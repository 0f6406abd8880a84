package sandbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"koordinator.sh/koord/sandbox/control"
	"koordinator.sh/koord/sandbox/launch"
	"koordinator.sh/koord/sandbox/scenario"
	"koordinator.sh/koord/sandbox/state"
)

// upOptions are the flags of `sandbox up`.
type upOptions struct {
	console
	target
	spec          state.Spec
	realNode      bool
	switchContext bool
}

func newUpCommand(c console) *cobra.Command {
	o := &upOptions{console: c}
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Start a sandbox, or report that it is running",
		Long: "Start a sandbox, or report that it is running. A sandbox that was started before keeps its data, and its options unless\n" +
			"a flag changes them.",
		Example: "  # Start 30 simulated nodes with services and batch work on them\n" +
			"  %[1]s sandbox up\n\n" +
			"  # A few overutilized nodes among idle ones, for koord-descheduler to rebalance\n" +
			"  %[1]s sandbox up --scenario skewed\n\n" +
			"  # Drive the services' load from recorded usage\n" +
			"  %[1]s sandbox up --trace usage.csv\n\n" +
			"  # A bare control plane for another scheduler, with the custom resources installed\n" +
			"  %[1]s sandbox up --name bare --kubernetes-only --nodes 0\n\n" +
			"  # The control plane of another version of Kubernetes\n" +
			"  %[1]s sandbox up --name older --kubernetes-bin kubernetes/server/bin\n\n" +
			"  # This machine as the only node, with pods that really run, as root (first: make real-node)\n" +
			"  %[1]s sandbox up --name real --real-node --nodes 0",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.completeAndRun(cmd) },
	}
	o.addUpFlags(cmd)
	return cmd
}

// completeAndRun does it once more when another command starts the sandbox at the same time: its options then count as
// those of before.
func (o *upOptions) completeAndRun(cmd *cobra.Command) error {
	flags := o.spec
	for {
		o.spec = flags
		if err := o.complete(cmd); err != nil {
			return err
		}
		if err := o.run(cmd.Context()); !errors.Is(err, launch.ErrAlreadyStarted) {
			return err
		}
	}
}

func (o *upOptions) run(ctx context.Context) error {
	sandbox, err := o.sandbox()
	if err != nil {
		return err
	}
	status, err := sandbox.Ask(ctx)
	if errors.Is(err, control.ErrNotRunning) {
		return o.start(ctx, sandbox)
	}
	if err != nil {
		return err
	}
	switch status.Phase {
	case control.Running:
		return o.sayRunning(ctx, sandbox, status)
	case control.Starting:
		o.tell("Sandbox %q is already starting.", o.name)
		o.sayDifference(sandbox, status)
		return o.follow(ctx, sandbox, o.newProgress(isTerminal(o.ErrOut), time.Now))
	case control.Failed:
		o.tell("Sandbox %q had failed (%s); starting it again.", o.name, status.Message)
	default:
		o.tell("Sandbox %q is stopping; starting it again.", o.name)
	}
	if err := sandbox.Stop(ctx); err != nil {
		return err
	}
	return o.start(ctx, sandbox)
}

func (o *upOptions) start(ctx context.Context, sandbox launch.Sandbox) (err error) {
	if err := checkTrace(o.spec.Trace); err != nil {
		return err
	}
	if o.spec.Binaries, err = launch.Binaries(o.spec); err != nil {
		return err
	}
	if err := launch.CheckKubernetes(o.spec); err != nil {
		return err
	}
	if err := checkRealNode(sandbox, o.spec); err != nil {
		return err
	}
	progress := o.newProgress(isTerminal(o.ErrOut), time.Now)
	err = sandbox.Start(ctx, o.spec, func() {
		o.tell("Another command is starting or stopping sandbox %q; waiting for it.", o.name)
	})
	if err != nil {
		return err
	}
	return o.follow(ctx, sandbox, progress)
}

// follow narrates a start until it is over.
func (o *upOptions) follow(ctx context.Context, sandbox launch.Sandbox, progress *progress) error {
	status, err := sandbox.Await(ctx, progress.show)
	progress.clear()
	if interrupted(err) {
		o.tell("The sandbox is still starting; see: %s, %s", sandbox.Command("status"), sandbox.Command("down"))
		return err
	}
	if err != nil {
		return err
	}
	return o.announce(ctx, status, progress.elapsed())
}

func (o *upOptions) sayRunning(ctx context.Context, sandbox launch.Sandbox, status *control.Status) error {
	o.report("sandbox/%s is already running (%d nodes, context %s)", o.name, status.Spec.Nodes, status.Context)
	o.sayDifference(sandbox, status)
	_, err := o.selectContext(ctx, status)
	return err
}

func (o *upOptions) sayDifference(sandbox launch.Sandbox, status *control.Status) {
	wanted := o.spec
	wanted.Binaries = status.Spec.Binaries
	if wanted != status.Spec {
		o.tell("It was started with other options; to change them: %s, then up again.", sandbox.Command("down"))
	}
}

func (o *upOptions) announce(ctx context.Context, status *control.Status, took time.Duration) error {
	o.report("sandbox/%s is up (%s, %s)", o.name, nodesOf(status.Spec), took)
	current, err := o.selectContext(ctx, status)
	if err != nil || status.Spec.Scenario == "" {
		return err
	}
	choice := ""
	if !current {
		choice = " --context " + status.Context
	}
	commands := append(o.sayPending(status.PendingPods), "top nodes", worthExplaining(o.spec.Scenario), "tui")
	o.tell("Now try:")
	for _, words := range commands {
		fmt.Fprintf(o.ErrOut, "  %s %s%s\n", o.program, words, choice)
	}
	return nil
}

// sayPending says which pods of the scenario are pending, and returns the commands that explain them.
func (o *upOptions) sayPending(pods []control.PendingPod) (commands []string) {
	for _, pod := range pods {
		if pod.Name == "" {
			o.tell("Not all pods of the scenario are running in namespace %s: %s", pod.Namespace, pod.Message)
			continue
		}
		o.tell("Pod %s/%s is pending: %s", pod.Namespace, pod.Name, pod.Message)
		commands = append(commands, "explain pod -n "+pod.Namespace+" "+pod.Name)
	}
	return commands
}

// selectContext makes the sandbox a context of the user's kubeconfig, reports whether it is the current one, and says how
// to choose it when it is not.
func (o *upOptions) selectContext(ctx context.Context, status *control.Status) (current bool, err error) {
	before, current, err := mergeKubeconfig(ctx, status.Kubeconfig, status.Context, o.switchContext)
	if err != nil {
		return false, err
	}
	if !current {
		o.tell("Your current kubectl context is a different one. Switch to this one with:")
		fmt.Fprintf(o.ErrOut, "  kubectl config use-context %s\n", status.Context)
	}
	dir := state.At(status.Directory)
	if file, err := kubeconfigOf(status.Context); err != nil || file == "" {
		return current, err
	} else if err := dir.AddUserKubeconfig(file); err != nil {
		return current, err
	}
	if before == status.Context {
		return current, nil // what was current before it is known from an earlier start
	}
	return current, dir.WritePreviousContext(before)
}

// nodesOf says how many nodes a sandbox has, in words.
func nodesOf(spec state.Spec) string {
	switch {
	case spec.RealNode == "":
		return fmt.Sprintf("%d nodes", spec.Nodes)
	case spec.Nodes == 0:
		return "this machine"
	}
	return fmt.Sprintf("%d nodes and this machine", spec.Nodes)
}

// worthExplaining is the command that explains what a scenario is there to show.
func worthExplaining(name string) string {
	if name == scenario.Skewed {
		return "explain node " + scenario.NodeName(1)
	}
	return "explain pod -n analytics monthly-report"
}
