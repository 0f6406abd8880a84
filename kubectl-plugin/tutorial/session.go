package tutorial

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"koordinator.sh/koord/messages"
	"koordinator.sh/koord/sandbox/realnode"
)

// Session is one run of a tutorial on a sandbox. Its methods are for one goroutine.
type Session struct {
	// Node is the real node of the sandbox.
	Node realnode.Node
	// Kubeconfig is the path of that of the sandbox's administrator.
	Kubeconfig string
	// Server is the URL of the API server, which listens on loopback.
	Server string
	// KubectlPath and KoordctlPath are the paths of the programs.
	KubectlPath, KoordctlPath string
	// Work is a directory for the files of the run. It is deleted at its end.
	Work string
	// Out gets what a reader reads, Progress what is waited for.
	Out, Progress io.Writer
	// Language of the reader.
	Language messages.Language
	// MeasureFor is how long each situation is measured.
	MeasureFor time.Duration

	record Record
	undo   []func(context.Context) error
}

// awaitInterval is the time between two looks at what is waited for.
const awaitInterval = time.Second

// Kubectl prints and runs kubectl, and returns what it printed.
func (s *Session) Kubectl(ctx context.Context, args ...string) (string, error) {
	return s.show(ctx, "kubectl", s.KubectlPath, "", args)
}

// Apply prints and runs `kubectl apply` of a manifest, which may have several documents.
func (s *Session) Apply(ctx context.Context, manifest string) error {
	_, err := s.show(ctx, "kubectl", s.KubectlPath, manifest, []string{"apply", "-f", "-"})
	return err
}

// Koordctl prints and runs koordctl, and returns what it printed.
func (s *Session) Koordctl(ctx context.Context, args ...string) (string, error) {
	return s.show(ctx, "koordctl", s.KoordctlPath, "", args)
}

// Ask runs kubectl without printing it, and decodes the JSON that it answers with. The arguments include `-o json`, or --raw.
func (s *Session) Ask(ctx context.Context, into any, args ...string) error {
	output, err := s.Run(ctx, s.KubectlPath, "", args...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(output), into); err != nil {
		return fmt.Errorf("kubectl %s: decode the answer: %w", strings.Join(args, " "), err)
	}
	return nil
}

// Run runs a program without printing it, in the sandbox's environment and the work directory, and returns its standard output.
func (s *Session) Run(ctx context.Context, program, stdin string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, program, args...)
	command.Dir = s.Work
	command.Env = append(os.Environ(), "KUBECONFIG="+s.Kubeconfig, "NO_COLOR=1", "COLUMNS=")
	command.Stdin = strings.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		return stdout.String(), fmt.Errorf("%s %s: %w: %s", program, strings.Join(args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return stdout.String(), nil
}

// Show prints and records a command line that stands for what the step does itself, with its output: one that a reader could type.
func (s *Session) Show(line, output string) {
	printRan(s.Out, Ran{Line: line, Output: output})
	if n := len(s.record.Done); n > 0 {
		s.record.Done[n-1].Ran = append(s.record.Done[n-1].Ran, Ran{Line: line, Output: output})
	}
}

// Table prints and records a table, whose first row has the headings.
func (s *Session) Table(rows [][]string) {
	fmt.Fprintf(s.Out, "\n%s\n", indented(strings.Join(s.aligned(rows), "\n")))
	if n := len(s.record.Done); n > 0 {
		s.record.Done[n-1].Table = rows
	}
}

// Tell says what is done meanwhile, a line at a time.
func (s *Session) Tell(format string, args ...any) {
	fmt.Fprintln(s.Progress, indent+"... "+s.Language.Text(fmt.Sprintf(format, args...)))
}

// Await looks once a second until check returns nil, and returns its last error when that is not within a time. what completes
// "waiting for", such as "the executors to run".
func (s *Session) Await(ctx context.Context, what string, within time.Duration, check func(context.Context) error) error {
	s.Tell("waiting for %s", what)
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	tick := time.NewTicker(awaitInterval)
	defer tick.Stop()
	last := errors.New("nothing was seen")
	for {
		err := check(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w: %w", what, context.Cause(ctx), last)
		case <-tick.C:
		}
	}
}

// Undo has something undone when the run ends, also when a step fails: the last first.
func (s *Session) Undo(undo func(context.Context) error) { s.undo = append(s.undo, undo) }

// undoWithin bounds what is undone at the end of a run.
const undoWithin = 2 * time.Minute

func (s *Session) undoAll(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoWithin)
	defer cancel()
	var errs []error
	for _, undo := range slices.Backward(s.undo) {
		errs = append(errs, undo(ctx))
	}
	s.undo = nil
	return errors.Join(errs...)
}

// show runs a program and prints it by its name.
func (s *Session) show(ctx context.Context, name, path, stdin string, args []string) (string, error) {
	output, err := s.Run(ctx, path, stdin, args...)
	line := commandLine(name, args)
	if stdin != "" {
		line += " <<EOF\n" + strings.Trim(stdin, "\n") + "\nEOF"
	}
	s.Show(line, output)
	return output, err
}
