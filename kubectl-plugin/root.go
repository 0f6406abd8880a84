package kubectlplugin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/tools/clientcmd"

	"koordinator.sh/koord/tui"
)

const rootLong = `%[1]s shows the state of co-location and explains it: where a node's batch resources come from, why a pod is
pending, what each node offers, has requested and uses.

It uses the cluster of your kubeconfig with your own permissions. If the system's servers are missing or down, it answers
from API objects and says what it could not read. Without a command in a terminal, it starts the TUI.`

// NewCommand returns the root command with every other below it.
func NewCommand(options Options) *cobra.Command {
	return newRootCommand(&session{Options: options})
}

func newRootCommand(s *session) *cobra.Command {
	root := &cobra.Command{
		Use:               s.Name[strings.LastIndexByte(s.Name, ' ')+1:], // the usage line puts the display name in its place
		Short:             "Show co-location and explain it",
		Long:              fmt.Sprintf(rootLong, s.Name),
		Annotations:       map[string]string{cobra.CommandDisplayNameAnnotation: s.Name},
		SilenceErrors:     true,
		SilenceUsage:      true,
		DisableAutoGenTag: true,
		RunE:              func(cmd *cobra.Command, _ []string) error { return runBare(cmd, s) },
		PersistentPreRunE: func(*cobra.Command, []string) error { return errors.Join(s.validate(), s.applyVerbosity()) },
	}
	root.SetIn(s.Streams.In)
	root.SetOut(s.Streams.Out)
	root.SetErr(s.Streams.ErrOut)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &usageError{err} })
	addGlobalFlags(root.PersistentFlags(), s)
	registerGlobalCompletions(root, s)
	root.AddGroup(
		&cobra.Group{ID: "see", Title: "Observe and explain:"},
		&cobra.Group{ID: "run", Title: "Install and configure:"},
		&cobra.Group{ID: "other", Title: "Other:"},
	)
	root.SetHelpCommandGroupID("other")
	root.SetCompletionCommandGroupID("other")
	addCommands(root, s)
	root.InitDefaultHelpCmd()
	addCompletionInstall(root, s)
	checkArguments(root)
	proposeNoFiles(root)
	translateHelp(root, s)
	return root
}

func addCommands(root *cobra.Command, s *session) {
	root.AddCommand(
		newTopCommand(s), newTreeCommand(s), newExplainCommand(s), newCodesCommand(s), newWhyCommand(s), newTUICommand(s),
		newConfigCommand(s), newPredictCommand(s), newForecastCommand(s), newWhatifCommand(s), newAuditCommand(s), newEventsCommand(s), newVerifyCommand(s), newLintCommand(s), newCheckCommand(s), newVersionCommand(s), newExitCodesTopic(),
	)
	root.AddCommand(hooks(s)...)
}

// addGlobalFlags adds the flags every command has: those of kubectl that mean something here, and the look of the output.
func addGlobalFlags(flags *pflag.FlagSet, s *session) {
	s.flags = genericclioptions.NewConfigFlags(true)
	unmeant := []**string{&s.flags.APIServer, &s.flags.BearerToken, &s.flags.CertFile, &s.flags.KeyFile, &s.flags.CAFile,
		&s.flags.TLSServerName, &s.flags.CacheDir, &s.flags.Username, &s.flags.Password}
	for _, flag := range unmeant {
		*flag = nil
	}
	s.flags.Insecure = nil
	s.flags.AddFlags(flags)
	flags.StringVar(&s.color, "color", "auto", "Colour the output: auto, always or never")
	flags.BoolVar(&s.ascii, "ascii", false, "Use ASCII characters only")
	s.addVerbosity(flags)
}

func (s *session) validate() error {
	if !slices.Contains([]string{"auto", "always", "never"}, s.color) {
		return usage("--color %q: must be auto, always or never", s.color)
	}
	if _, err := clientcmd.ParseTimeout(*s.flags.Timeout); err != nil {
		return usage("--request-timeout %q: must be a number of seconds or a duration such as 30s", *s.flags.Timeout)
	}
	return nil
}

// runBare starts the TUI where a person can use it, and otherwise says what there is.
func runBare(cmd *cobra.Command, s *session) error {
	if s.Terminal.Output && s.Terminal.Input {
		return runTUI(cmd.Context(), s, tui.Options{})
	}
	return cmd.Help()
}

// Run executes the command line in args and prints its error, if any; ExitCode says what the error means to the shell.
func Run(ctx context.Context, options Options, args []string) error {
	s := &session{Options: options}
	out := &watchedWriter{Writer: options.Streams.Out}
	format := objectFormat(args)
	if format != "" {
		// Otherwise the terminal is left to the TUI and to editors as it is.
		s.Streams.Out = out
	}
	root := newRootCommand(s)
	root.SetArgs(expandArguments(root, args))
	cmd, err := root.ExecuteContextC(ctx)
	f := failed{command: cmd.CommandPath(), program: options.Name, style: s.errorStyle(), language: s.language()}
	if format != "" && !out.wrote && f.tells(err) {
		err = errors.Join(err, printErrorObject(out, format, err, f))
	}
	printError(options.Streams.ErrOut, err, f)
	return err
}

func newExitCodesTopic() *cobra.Command {
	return &cobra.Command{Use: "exit-codes", Short: "Exit codes and what they mean", Long: exitCodesHelp}
}
