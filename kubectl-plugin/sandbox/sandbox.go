// Package sandbox holds the commands that run a real Kubernetes control plane with simulated nodes on this machine.
package sandbox

import (
	"context"
	"fmt"
	"io/fs"
	"os"

	"errors"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/sandbox/pki"
	"koordinator.sh/koord/sandbox/state"
)

// NewCommand returns `sandbox` with its subcommands.
func NewCommand(streams genericiooptions.IOStreams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sandbox",
		Short: "Run a real control plane with simulated nodes on this machine",
		Long: "Run etcd, kube-apiserver and kube-controller-manager as ordinary processes on this machine, with simulated nodes\n" +
			"and the whole system on top. It needs no containers and no root, listens on loopback alone, and keeps its data\n" +
			"in the user's state directory.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		newUpCommand(streams), newDownCommand(streams), newStatusCommand(streams), newListCommand(streams),
		newLogsCommand(streams), newKubeconfigCommand(streams),
	)
	return cmd
}

// target is the sandbox a command is about.
type target struct {
	name string
}

func (t *target) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&t.name, "name", state.DefaultName, "Name of the sandbox")
	_ = cmd.RegisterFlagCompletionFunc("name", completeNames) // fails only for a flag that does not exist
}

// dir returns the sandbox's directory.
func (t *target) dir() (state.Dir, error) {
	home, err := state.Home(os.Getenv)
	if err != nil {
		return state.Dir{}, err
	}
	return state.Open(home, t.name), nil
}

// existing returns the directory of a sandbox that was started at least once.
func (t *target) existing() (state.Dir, error) {
	dir, err := t.dir()
	if err != nil {
		return state.Dir{}, err
	}
	if !dir.Exists() {
		err := fmt.Errorf("sandbox %q does not exist: %w", t.name, fs.ErrNotExist)
		return state.Dir{}, finding.Wrap(err, finding.SandboxNotRunning, "koordctl sandbox up --name "+t.name)
	}
	return dir, nil
}

func (t *target) context() string { return pki.ContextName(t.name) }

func completeNames(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	home, err := state.Home(os.Getenv)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names, err := state.List(home)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// interrupted reports whether the user, not the work, ended a command.
func interrupted(err error) bool { return errors.Is(err, context.Canceled) }
