// Package sandbox holds the commands that run a real Kubernetes control plane with simulated nodes on this machine.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/sandbox/launch"
	"koordinator.sh/koord/sandbox/state"
)

// NewCommand returns `sandbox` with its subcommands. Their texts and hints show the name that the root command is called
// by; say returns a text in the language of the reader, once the flags are parsed.
func NewCommand(streams genericiooptions.IOStreams, say func(english string) string) *cobra.Command {
	c := console{IOStreams: streams, say: say}
	cmd := &cobra.Command{
		Use:   "sandbox",
		Short: "Run a real control plane with simulated nodes on this machine",
		Long: "Run etcd, kube-apiserver and kube-controller-manager as ordinary processes on this machine, with simulated nodes\n" +
			"and the whole system on top. It needs no containers and no root, listens on loopback alone, and keeps its data\n" +
			"in the user's state directory. As root on Linux, the machine itself can be a node too: see up --real-node.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		newUpCommand(c), newDownCommand(c), newStatusCommand(c), newListCommand(c),
		newLogsCommand(streams), newKubeconfigCommand(streams),
	)
	nameExamples(cmd)
	return cmd
}

// target is the sandbox a command is about.
type target struct {
	name    string
	program string
}

func (t *target) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&t.name, "name", state.DefaultName, "Name of the sandbox")
	_ = cmd.RegisterFlagCompletionFunc("name", completeNames) // fails only for a flag that does not exist
}

// complete takes the program's name from the command that runs, and checks that of the sandbox.
func (t *target) complete(cmd *cobra.Command) error {
	cmd.SilenceUsage = true
	t.program = cmd.Root().CommandPath()
	if err := state.ValidateName(t.name); err != nil {
		return usageError{finding.Wrap(err, finding.InvalidArgument, t.program+" sandbox list")}
	}
	return nil
}

// sandbox returns the sandbox, whether it exists or not.
func (t *target) sandbox() (launch.Sandbox, error) {
	home, err := state.Home(os.Getenv)
	if err != nil {
		return launch.Sandbox{}, err
	}
	return launch.Sandbox{Name: t.name, Dir: state.Open(home, t.name), Program: t.program}, nil
}

// existing returns a sandbox that was started at least once.
func (t *target) existing() (launch.Sandbox, error) {
	sandbox, err := t.sandbox()
	if err != nil {
		return sandbox, err
	}
	if !sandbox.Dir.Exists() {
		err := fmt.Errorf("sandbox %q does not exist", t.name)
		return sandbox, finding.Wrap(err, finding.SandboxNotRunning, sandbox.Command("up"))
	}
	return sandbox, nil
}

// otherSandboxes are the names of the user's sandboxes but one, sorted.
func otherSandboxes(name string) ([]string, error) {
	home, err := state.Home(os.Getenv)
	if err != nil {
		return nil, err
	}
	names, err := state.List(home)
	return slices.DeleteFunc(names, func(n string) bool { return n == name }), err
}

func completeNames(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	names, err := otherSandboxes("")
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// interrupted reports whether the user, not the work, ended a command.
func interrupted(err error) bool { return errors.Is(err, context.Canceled) }
