//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"koordinator.sh/koord/test/sandboxtest"
)

// patience is how long a screen may take to show what is waited for, on a busy machine.
const patience = 30 * time.Second

// tmux is the terminal emulator of the tests: a separate server.
type tmux struct{ socket string }

func startTmux() (*tmux, error) {
	if _, err := exec.LookPath("tmux"); err != nil {
		return nil, errors.New("the end-to-end tests drive a real terminal: tmux is missing, install it (apt-get install tmux)")
	}
	m := &tmux{socket: fmt.Sprintf("koord-e2e-%d", os.Getpid())}
	_, err := m.run(context.Background(), "start-server", ";", "set-option", "-g", "exit-empty", "off", ";",
		"set-option", "-g", "default-terminal", "tmux-256color")
	return m, err
}

func (m *tmux) run(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "tmux", append([]string{"-L", m.socket, "-f", "/dev/null"}, args...)...)
	cmd.Env = append(os.Environ(), "LANG=C.UTF-8", "LC_ALL=C.UTF-8", "TMUX=")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("tmux %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

// stop ends the server with all its terminals.
func (m *tmux) stop() { _, _ = m.run(context.Background(), "kill-server") } // there is none when no test opened a terminal

// terminal is a shell in its own terminal.
type terminal struct {
	t    *testing.T
	name string
}

// open starts a shell in a terminal, with the sandbox's environment and further variables. Its prompt is "ready$ ".
func open(t *testing.T, width, height int, environ ...string) *terminal {
	t.Helper()
	term := &terminal{t: t, name: strings.NewReplacer("/", "-", " ", "-", ".", "-", ":", "-").Replace(t.Name())}
	args := []string{"new-session", "-d", "-s", term.name,
		"-x", strconv.Itoa(width), "-y", strconv.Itoa(height), "env", "-i"}
	args = append(args, "HOME="+shared.Home, "PATH="+os.Getenv("PATH"), "LANG=C.UTF-8", "TERM=tmux-256color", "PS1=ready$ ",
		"KOORD_STATE_HOME="+shared.Home, "KUBECONFIG="+shared.Kubeconfig, "koordctl="+shared.Program("koordctl"))
	args = append(append(args, environ...), "sh")
	if _, err := emulator.run(t.Context(), args...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = emulator.run(context.Background(), "kill-session", "-t", "="+term.name) }) // it may have ended
	term.sees("ready$")
	return term
}

// types a line into the terminal.
func (term *terminal) types(line string) {
	term.t.Helper()
	term.tmux("send-keys", "-t", term.pane(), "-l", line)
	term.presses("Enter")
}

// presses keys by tmux's names, such as j, Enter, Escape, Tab.
func (term *terminal) presses(keys ...string) {
	term.t.Helper()
	term.tmux(append([]string{"send-keys", "-t", term.pane()}, keys...)...)
}

func (term *terminal) resize(width, height int) {
	term.t.Helper()
	term.tmux("resize-window", "-t", term.pane(), "-x", strconv.Itoa(width), "-y", strconv.Itoa(height))
}

// screen is what the terminal shows now; with escape sequences when styled.
func (term *terminal) screen(styled bool) string {
	term.t.Helper()
	args := []string{"capture-pane", "-p", "-t", term.pane()}
	if styled {
		args = append(args, "-e")
	}
	return term.tmux(args...)
}

func (term *terminal) pane() string { return "=" + term.name + ":" }

func (term *terminal) tmux(args ...string) string {
	term.t.Helper()
	out, err := emulator.run(term.t.Context(), args...)
	if err != nil {
		term.t.Fatal(err)
	}
	return out
}

// sees waits until the screen shows all texts at once, and returns it.
func (term *terminal) sees(texts ...string) string {
	term.t.Helper()
	return term.waits(func(screen string) error {
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				return fmt.Errorf("the screen does not show %q", text)
			}
		}
		return nil
	})
}

// seesNot waits until the screen shows none of the texts any more.
func (term *terminal) seesNot(texts ...string) string {
	term.t.Helper()
	return term.waits(func(screen string) error {
		for _, text := range texts {
			if strings.Contains(screen, text) {
				return fmt.Errorf("the screen still shows %q", text)
			}
		}
		return nil
	})
}

// waits until check accepts the screen.
func (term *terminal) waits(check func(screen string) error) string {
	term.t.Helper()
	var screen string
	sandboxtest.Eventually(term.t, patience, func() error {
		screen = term.screen(false)
		if err := check(screen); err != nil {
			return fmt.Errorf("%w:\n%s", err, screen)
		}
		return nil
	})
	return screen
}

// line is the line of a screen that begins with a text, whatever marks it.
func line(screen, text string) string {
	for candidate := range strings.Lines(screen) {
		if strings.HasPrefix(strings.TrimLeft(candidate, " ▌"), text) {
			return strings.TrimRight(candidate, " \n")
		}
	}
	return ""
}
