package install

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"koordinator.sh/koord/deploy/release"
	"koordinator.sh/koord/kubectl-plugin/dryrun"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/source/live"
)

// NewCommands returns install, status and uninstall. Their texts show the name that the root command is called by; look says
// how to print for a person, and in which language, once the flags are parsed.
func NewCommands(getter genericclioptions.RESTClientGetter, streams genericiooptions.IOStreams, look func() printer.Options) []*cobra.Command {
	commands := []*cobra.Command{
		NewCmdInstall(getter, streams, look), NewCmdStatus(getter, streams, clock.RealClock{}, look), NewCmdUninstall(getter, streams, look),
	}
	for _, cmd := range commands {
		nameExamples(cmd)
	}
	return commands
}

// nameExamples replaces %[1]s in a command's texts by the program's name. The name is known only once the command has a
// root, therefore it is done when help or usage is shown.
func nameExamples(cmd *cobra.Command) {
	fill := func(c *cobra.Command) {
		name := c.Root().CommandPath()
		c.Example = strings.ReplaceAll(c.Example, "%[1]s", name)
		c.Long = strings.ReplaceAll(c.Long, "%[1]s", name)
	}
	cmd.SetHelpFunc(func(c *cobra.Command, args []string) {
		fill(c)
		parentOf(c).HelpFunc()(c, args)
	})
	cmd.SetUsageFunc(func(c *cobra.Command) error {
		fill(c)
		return parentOf(c).UsageFunc()(c)
	})
}

// parentOf is the command whose help and usage functions apply; a command without parent gets cobra's own.
func parentOf(c *cobra.Command) *cobra.Command {
	if c.Parent() != nil {
		return c.Parent()
	}
	return &cobra.Command{}
}

// usageError is a wrong flag or argument; its exit code is that of usage errors.
type usageError struct{ error }

// ExitCode is 2.
func (usageError) ExitCode() int { return 2 }

// Unwrap returns the error.
func (e usageError) Unwrap() error { return e.error }

// steps of a command, in this order.
type steps interface {
	// Complete reads what beside the flags the options come from.
	Complete(genericclioptions.RESTClientGetter) error
	// Validate checks what can be checked without a cluster.
	Validate() error
	// Run does what the command is for.
	Run(context.Context, genericclioptions.RESTClientGetter) error
}

// runner completes, validates and runs.
func runner(o steps, getter genericclioptions.RESTClientGetter) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, _ []string) error {
		cmd.SilenceUsage = true
		if err := o.Complete(getter); err != nil {
			return err
		}
		if err := o.Validate(); err != nil {
			return err
		}
		return live.Failure(cmd.Context(), cmd.Name(), o.Run(cmd.Context(), getter))
	}
}

// target is the release that a command is about.
type target struct {
	releaseName string
	namespace   string
	output      outputFlag
}

func (t *target) addFlags(cmd *cobra.Command, formats ...string) {
	cmd.Flags().StringVar(&t.releaseName, "release-name", release.DefaultName, "Name of the Helm release")
	t.output.addFlags(cmd, formats...)
}

// Complete takes the namespace from -n; the context's namespace is where its user works, not where the system belongs.
func (t *target) Complete(getter genericclioptions.RESTClientGetter) error {
	t.namespace = release.DefaultNamespace
	namespace, chosen, err := getter.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return live.ConfigFailure(err)
	}
	if chosen && namespace != "" {
		t.namespace = namespace
	}
	return nil
}

func (t *target) options() release.Options {
	return release.Options{ReleaseName: t.releaseName, Namespace: t.namespace}
}

// mutation is what install and uninstall have in common.
type mutation struct {
	genericiooptions.IOStreams
	target
	look    func() printer.Options
	dryRun  dryrun.Flag
	wait    bool
	timeout time.Duration
}

func (m *mutation) addFlags(cmd *cobra.Command) {
	m.target.addFlags(cmd, "name")
	m.dryRun.AddTo(cmd, "Change nothing and show what would change")
	cmd.Flags().BoolVar(&m.wait, "wait", false, "Wait until the workloads are ready")
	cmd.Flags().DurationVar(&m.timeout, "timeout", release.DefaultTimeout, "Length of time to wait before giving up")
}

// Validate checks what can be checked without a cluster.
func (m *mutation) Validate() error {
	if err := m.output.validate(); err != nil {
		return err
	}
	if err := m.dryRun.Validate(); err != nil {
		return usageError{err}
	}
	if m.timeout <= 0 {
		return usageError{errors.New("--timeout must be positive")}
	}
	return nil
}

func (m *mutation) options() release.Options {
	options := m.target.options()
	options.DryRun, options.ReadOnly = m.dryRun == dryrun.Server, m.dryRun == dryrun.Client
	options.Wait = m.wait
	options.Timeout = m.timeout
	return options
}

// report prints the result as an object, or one line an object that changed or would change, and last what happened to the
// release.
func (m *mutation) report(result *release.Result, happened string) error {
	switch {
	case m.output.format == "name":
		return writeNames(m.Out, result.Changes)
	case !m.output.text():
		return m.output.print(m.Out, newResult(result))
	}
	if err := m.writeChanges(result.Changes); err != nil {
		return err
	}
	_, err := fmt.Fprintln(m.Out, m.look().Say(happened+m.dryRun.Suffix()))
	return err
}

// tell narrates on standard error, a line at a time.
func (m *mutation) tell(format string, args ...any) {
	fmt.Fprintln(m.ErrOut, m.look().Say(fmt.Sprintf(format, args...)))
}

// must is for registrations that fail only when the program names a flag it does not have.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
