package kubectlplugin

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/deploy/release"
	"koordinator.sh/koord/kubectl-plugin/check"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/tui"
)

func newTUICommand(s *session) *cobra.Command {
	shown := tui.Options{}
	cmd := &cobra.Command{
		Use:   "tui",
		Short: "Start the terminal user interface",
		Long: "Start the terminal user interface. It begins with the dashboard: co-location over time, what is wrong in each list, and what happens " +
			"next. Nodes, pods, quotas, gangs, reservations, devices and migrations have a list each, and every explanation is one key away. :config lists " +
			"the configuration and changes it, after showing the plan and asking.",
		Example: fmt.Sprintf("  # Use another context\n  %[1]s tui --context prod\n\n  # Start with the pods of a namespace\n  %[1]s tui -n shop", s.Name),
		GroupID: "see",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runTUI(cmd.Context(), s, shown) },
	}
	cmd.Flags().BoolVar(&shown.Mouse, "mouse", false, "Select, open and scroll with the mouse; selecting text in the terminal then needs Shift")
	cmd.Flags().BoolVar(&shown.ReadOnly, "readonly", false, "Offer nothing that changes the cluster")
	cmd.Flags().StringVar(&shown.Theme, "theme", "", "Colours: "+strings.Join(tui.Themes(), ", ")+"; KOORD_THEME in the environment says what it is by default")
	must(cmd.RegisterFlagCompletionFunc("theme", cobra.FixedCompletions(tui.Themes(), cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

// runTUI starts the terminal user interface with what its flags say; without a terminal it says what to use instead.
func runTUI(ctx context.Context, s *session, o tui.Options) error {
	if !s.Terminal.Output || !s.Terminal.Input {
		return finding.Wrap(errors.New("start the terminal user interface: standard input and output must be a terminal"),
			finding.InvalidArgument, "koordctl top nodes prints the same data")
	}
	s.fullScreen = true
	src, err := s.connect()
	if err != nil {
		return err
	}
	defer s.collectAt(50)() // its memory counts more than its time: it runs all day
	view := "dashboard"
	if namespace := s.namespaceFlag(); namespace != "" {
		view = "pods " + namespace
	}
	o.Source, o.Check = src, func(ctx context.Context) (*tui.Checks, error) { return checksOf(ctx, s, src) }
	o.In, o.Out, o.Environ, o.Color, o.ASCII = s.Streams.In, s.Streams.Out, s.Environ, s.color, s.style().ASCII
	o.StartView, o.Clock, o.Version, o.Program = view, s.Clock, s.Version.Version, s.Name
	return tui.Run(ctx, o)
}

// checksOf checks the installation with all checks of the command check.
func checksOf(ctx context.Context, s *session, src source.Source) (*tui.Checks, error) {
	report, err := checkOnce(ctx, s.checked(src, release.DefaultName), check.Selection{Categories: check.Categories()})
	if err != nil {
		return nil, err
	}
	all := checkGroups(report, func(*check.Result) bool { return true })
	return &tui.Checks{Groups: all, Features: featureRows(report, false), Summary: report.Summary.String(), Incomplete: report.Incomplete}, nil
}
