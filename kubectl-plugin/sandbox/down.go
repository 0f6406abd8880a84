package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/sandbox/launch"
	"koordinator.sh/koord/sandbox/pki"
)

// downTimeout is how long all processes together may take to end, a supervisor that hangs and a real node's pods among them.
const downTimeout = 90 * time.Second

// downOptions are the flags of `sandbox down`.
type downOptions struct {
	console
	target
	purge bool
}

func newDownCommand(c console) *cobra.Command {
	o := &downOptions{console: c}
	cmd := &cobra.Command{
		Use:   "down",
		Short: "Stop a sandbox; its data stays unless --purge",
		Long:  "Stop a sandbox. No process, port or lock is left behind, also after a crash. The data stays for the next `up`.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.complete(cmd); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	o.addFlags(cmd)
	cmd.Flags().BoolVar(&o.purge, "purge", false, "Delete the sandbox's data and its kubectl context too")
	return cmd
}

func (o *downOptions) run(ctx context.Context) error {
	sandbox, err := o.existing()
	if found, ok := finding.From(err); ok && found.Code == finding.SandboxNotRunning {
		return finding.Wrap(err, found.Code, sandbox.Program+" sandbox list") // not to start one
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, downTimeout)
	defer cancel()
	if o.purge {
		return o.delete(ctx, sandbox)
	}
	if err := sandbox.Stop(ctx); err != nil {
		return err
	}
	o.report("sandbox/%s is down", o.name)
	return nil
}

func (o *downOptions) delete(ctx context.Context, sandbox launch.Sandbox) error {
	successors, err := o.successors(sandbox)
	if err != nil {
		return err
	}
	files := sandbox.Dir.UserKubeconfigs()
	if err := sandbox.Purge(ctx); err != nil {
		return err
	}
	o.report("sandbox/%s is down and deleted", o.name)
	current, changed, err := forgetKubeconfig(ctx, sandbox.Context(), successors)
	switch {
	case err != nil:
		return fmt.Errorf("remove context %q: %w", sandbox.Context(), err)
	case changed && current != "":
		o.tell("Your current kubectl context is now %q.", current)
	case changed:
		o.tell("No current kubectl context is set now.")
	}
	return forgetElsewhere(ctx, sandbox.Context(), files, successors)
}

// forgetElsewhere removes the context from the kubeconfigs that it was written to while KUBECONFIG was another one. A file that is
// gone has nothing to remove.
func forgetElsewhere(ctx context.Context, contextName string, files, successors []string) error {
	var problems []error
	for _, file := range files {
		if _, err := os.Stat(file); err != nil {
			continue
		}
		if _, _, err := forgetKubeconfigAt(ctx, onlyFile(file), contextName, successors); err != nil {
			problems = append(problems, fmt.Errorf("remove context %q from %s: %w", contextName, file, err))
		}
	}
	return errors.Join(problems...)
}

// successors are the contexts that may become the current one in the place of the sandbox's: the one that was before it,
// then those of the other sandboxes, by name.
func (o *downOptions) successors(sandbox launch.Sandbox) ([]string, error) {
	names, err := otherSandboxes(o.name)
	if err != nil {
		return nil, err
	}
	contexts := []string{sandbox.Dir.PreviousContext()}
	for _, name := range names {
		contexts = append(contexts, pki.ContextName(name))
	}
	return contexts, nil
}
