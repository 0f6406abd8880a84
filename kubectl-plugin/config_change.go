package kubectlplugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/spf13/cobra"

	"koordinator.sh/koord/api/finding"
	decision "koordinator.sh/koord/decision/config/configuration"
	"koordinator.sh/koord/kubectl-plugin/dryrun"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/kubectl-plugin/prompt"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/source/proposal"
)

// changeFlags are the flags of every command that writes the configuration.
type changeFlags struct {
	output
	yes            bool
	dryRun         dryrun.Flag
	forceConflicts bool
	// maxEvictions bounds the pods that a change may evict at once; negative is unset.
	maxEvictions int
	// inputTaken says that standard input holds a file, so that no answer can come from there.
	inputTaken bool
}

func (o *changeFlags) addFlags(cmd *cobra.Command) {
	o.output.addFlags(cmd, false)
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "Write without asking for confirmation")
	cmd.Flags().IntVar(&o.maxEvictions, "max-evictions", -1, "Refuse a change that would evict more pods than this at once; required with --yes if it would evict any")
	o.dryRun.AddTo(cmd, "Write nothing")
	cmd.Flags().BoolVar(&o.forceConflicts, "force-conflicts", false, "Take over fields that another field manager has set")
}

func (o *changeFlags) complete() error {
	if err := o.dryRun.Validate(); err != nil {
		return &usageError{err}
	}
	return o.output.complete()
}

// answerable says whether the question before writing, if there is one, can be answered.
func (o *changeFlags) answerable(s *session) error {
	switch {
	case o.yes || o.dryRun.On():
		return nil
	case o.inputTaken:
		return usage("--yes is required with a file from standard input, because there is no prompt")
	case !s.Terminal.Input:
		return finding.Wrap(usage("standard input is not a terminal, so there is no prompt"), finding.InvalidArgument, "--yes writes without asking")
	}
	return nil
}

// allow refuses a plan with errors, and one that evicts more pods than was allowed. With --yes no user sees the plan, so that
// evictions have to be allowed in advance.
func (o *changeFlags) allow(s *session, made *madePlan) error {
	if err := refuse(s, made.Change, made.Found, nothingWritten); err != nil {
		return err
	}
	evicted := made.Evictions()
	asked := o.maxEvictions < 0 && (!o.yes || o.dryRun.On())
	if asked || evicted <= max(o.maxEvictions, 0) {
		return nil
	}
	err := fmt.Errorf("the change would evict %d pod(s) at once, %d allowed, and %s", evicted, max(o.maxEvictions, 0), nothingWritten)
	return finding.Wrap(err, finding.EvictionBudget, fmt.Sprintf("koordctl config plan shows them; --max-evictions %d allows them", evicted))
}

// causeOf is the command line as the history shows it.
func causeOf(s *session, cmd *cobra.Command, args []string) string {
	path := s.Name + strings.TrimPrefix(cmd.CommandPath(), cmd.Root().CommandPath())
	return strings.Join(append([]string{path}, args...), " ")
}

// commit checks a change, shows its plan, asks, and writes it.
func (o *changeFlags) commit(ctx context.Context, s *session, configurator source.Configurator, c proposal.Change) error {
	if maps.Equal(c.Data, c.Current.Data) && c.Current.Exists {
		return o.unchanged(ctx, s, configurator, c)
	}
	if err := o.answerable(s); err != nil {
		// Errors are said first, because an answer would not help against them. Making the plan would be in vain.
		return cmp.Or(refuse(s, c, c.Current.Judge(c.Data, nil), nothingWritten), err)
	}
	made, err := makePlan(ctx, s, configurator, c)
	if err != nil {
		return err
	}
	if err := o.allow(s, made); err != nil {
		return err
	}
	if o.text() {
		if err := printer.ConfigPlan(s.Streams.Out, made.view(), s.printerOptions()); err != nil {
			return err
		}
	}
	if err := incomplete(s, made.Missing, false); err != nil {
		return err
	}
	if !o.dryRun.On() && !o.yes {
		if err := s.agree(ctx, c); err != nil {
			return err
		}
	}
	made, applied, err := o.write(ctx, s, configurator, made)
	if err != nil {
		return err
	}
	return o.report(s, made, applied)
}

// agree asks the person at the terminal; without a yes it is an error.
func (s *session) agree(ctx context.Context, c proposal.Change) error {
	agreed, err := prompt.Confirm(ctx, s.Streams.In, s.Streams.ErrOut, s.say(fmt.Sprintf("Write this to %s?", c.Subject())))
	if errors.Is(err, context.Canceled) {
		s.tell("Nothing was written.")
	}
	if err != nil || agreed {
		return err
	}
	return errors.New(nothingWritten)
}

// unchanged says that there is nothing to write. A program gets the plan as of any change, without what was applied.
func (o *changeFlags) unchanged(ctx context.Context, s *session, configurator source.Configurator, c proposal.Change) error {
	if o.text() {
		s.report("%s unchanged", c.Subject())
		return nil
	}
	made, err := makePlan(ctx, s, configurator, c)
	if err != nil {
		return err
	}
	if err := incomplete(s, made.Missing, false); err != nil {
		return err
	}
	return o.report(s, made, nil)
}

// nothingWritten is what follows from a change that is refused.
const nothingWritten = "nothing was written"

// refuse ends with the errors of a change; consequence is what follows. What is wrong already and stays so is no error of
// the change.
func refuse(s *session, c proposal.Change, found []decision.Finding, consequence string) error {
	errs := c.Rejected(found)
	if len(errs) == 0 {
		return nil
	}
	options := s.printerOptions()
	options.Style = s.errorStyle()
	if err := printer.ConfigFindings(s.Streams.ErrOut, "the new "+c.Subject(), errs, options); err != nil {
		return err
	}
	return finding.Wrap(fmt.Errorf("the new configuration has errors, and %s", consequence), errs[0].Code, "")
}

func (o *changeFlags) report(s *session, made *madePlan, result *proposal.Written) error {
	if o.format == "name" {
		fmt.Fprintln(s.Streams.Out, made.Change.Subject())
		return nil
	}
	if !o.text() {
		made.applied = result
		list, err := made.list()
		if err != nil {
			return err
		}
		return o.print(s, list, "node", nil)
	}
	switch {
	case !result.DryRun && result.Revision > 0:
		s.report("%s configured (revision %d)", made.Change.Subject(), result.Revision)
	case result.DryRun:
		s.report("%s configured%s", made.Change.Subject(), o.dryRun.Suffix())
	default:
		s.report("%s configured", made.Change.Subject())
	}
	return nil
}
