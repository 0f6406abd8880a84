package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/sandbox/state"
)

// followInterval is how often a followed log is looked at for more.
const followInterval = 200 * time.Millisecond

// logsOptions are the flags of `sandbox logs`.
type logsOptions struct {
	genericiooptions.IOStreams
	target
	follow bool
}

func newLogsCommand(streams genericiooptions.IOStreams) *cobra.Command {
	o := &logsOptions{IOStreams: streams}
	cmd := &cobra.Command{
		Use:               "logs COMPONENT",
		Short:             "Print the log of one of a sandbox's processes",
		Example:           "  %[1]s sandbox logs koord-manager -f",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: o.completeComponents,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.complete(cmd); err != nil {
				return err
			}
			return o.run(cmd.Context(), strings.Join(args, ""))
		},
	}
	o.addFlags(cmd)
	cmd.Flags().BoolVarP(&o.follow, "follow", "f", false, "Keep printing as the log grows")
	return cmd
}

func (o *logsOptions) run(ctx context.Context, component string) (err error) {
	sandbox, err := o.existing()
	if err != nil {
		return err
	}
	known, err := components(sandbox.Dir)
	if err != nil {
		return err
	}
	if !slices.Contains(known, component) {
		err := fmt.Errorf("sandbox %q has no log of %q", o.name, component)
		if component == "" {
			err = errors.New("must specify a component")
		}
		return usageError{finding.Wrap(err, finding.InvalidArgument, "one of: "+strings.Join(known, ", "))}
	}
	file, err := os.Open(sandbox.Dir.Log(component))
	if err != nil {
		return fmt.Errorf("open log of %q: %w", component, err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	for {
		if _, err := io.Copy(o.Out, file); err != nil {
			return fmt.Errorf("print log of %q: %w", component, err)
		}
		if !o.follow {
			return nil
		}
		if err := rewindIfCut(file); err != nil {
			return err
		}
		if !pause(ctx, followInterval) {
			return nil
		}
	}
}

// rewindIfCut goes back to the start of a log that was truncated because it had grown too large.
func rewindIfCut(file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("follow log: %w", err)
	}
	at, err := file.Seek(0, io.SeekCurrent)
	if err == nil && info.Size() < at {
		_, err = file.Seek(0, io.SeekStart)
	}
	return err
}

// components returns the names of those that have a log, sorted.
func components(dir state.Dir) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(dir.Logs(), "*.log"))
	if err != nil {
		return nil, fmt.Errorf("list logs: %w", err)
	}
	names := make([]string, 0, len(files))
	for _, file := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(file), ".log"))
	}
	slices.Sort(names)
	return names, nil
}

func (o *logsOptions) completeComponents(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	sandbox, err := o.sandbox()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names, err := components(sandbox.Dir)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
