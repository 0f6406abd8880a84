package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/term"
	"k8s.io/utils/clock"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/source"
)

// DefaultRefreshInterval is how often the cluster is asked when Options do not say.
const DefaultRefreshInterval = 3 * time.Second

const (
	minRefreshInterval = time.Second
	// maxFPS bounds how long a key waits for the next frame: 13 ms, so that it is drawn within 16. More would cost an idle screen more than that
	// is worth: the renderer looks for changes that often.
	maxFPS = 75
)

// Options say what the workbench shows and where.
type Options struct {
	// Source of all answers.
	Source source.Source
	// Check checks the installation; nil where that is not possible. It is called from other goroutines.
	Check func(context.Context) (*Checks, error)
	// In is the terminal's input.
	In io.Reader
	// Out is the terminal's output.
	Out io.Writer
	// Environ is the environment, as os.Environ returns it.
	Environ []string
	// Color is auto, always or never; empty means auto.
	Color string
	// ASCII restricts output to ASCII characters.
	ASCII bool
	// Theme is the name of the colours; empty means what KOORD_THEME in Environ says, or the default ones.
	Theme string
	// Clock is the source of the time; nil is the real clock.
	Clock clock.PassiveClock
	// RefreshInterval is how often the cluster is asked; at least 1s, DefaultRefreshInterval when zero.
	RefreshInterval time.Duration
	// ReadOnly withholds the actions that write, and is shown in the header.
	ReadOnly bool
	// StartView is a command to begin with, such as "dashboard" or "explain shop/web-1"; empty is the node table.
	StartView string
	// Namespace of pods to begin with; empty for all.
	Namespace string
	// Version of the workbench, shown in the header; may be empty.
	Version string
	// Program is the name the program was called by, such as kubectl koord, for the commands in hints; empty for koordctl.
	Program string
	// Mouse lets the wheel scroll and clicks select from the start; the command :mouse turns it on and off.
	Mouse bool
}

// Run shows the workbench until the user quits or ctx ends. It returns nil in both cases, a *finding.Error when the
// terminal cannot show it.
func Run(ctx context.Context, o Options) error {
	appearance, err := appearanceOf(o)
	if err != nil {
		return err
	}
	if err := terminalOf(o); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	model, err := newModel(ctx, o, appearance)
	if err != nil {
		return err
	}
	program := tea.NewProgram(model,
		tea.WithContext(ctx), tea.WithInput(o.In), tea.WithOutput(o.Out), tea.WithFPS(maxFPS),
		tea.WithEnvironment(normalised(o.Environ, appearance)), tea.WithColorProfile(appearance.Profile),
	)
	_, err = program.Run()
	switch {
	case err == nil, ctx.Err() != nil && errors.Is(err, tea.ErrProgramKilled):
		return nil
	case errors.Is(err, tea.ErrInterrupted):
		return nil
	}
	return fmt.Errorf("run the terminal user interface: %w", err)
}

// terminalOf refuses output that is a file but no terminal. Anything else that writes, such as an SSH session, is taken
// for a terminal.
func terminalOf(o Options) error {
	for _, stream := range []struct {
		name string
		file any
	}{{"output", o.Out}, {"input", o.In}} {
		if file, ok := stream.file.(term.File); ok && !term.IsTerminal(file.Fd()) {
			return finding.Wrap(fmt.Errorf("start the terminal user interface: standard %s is not a terminal", stream.name),
				finding.InvalidArgument, "koordctl top nodes")
		}
	}
	return nil
}
