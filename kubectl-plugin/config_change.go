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
	decision "koordinator.sh/koord/decision/configuration"
	"koordinator.sh/koord/decision/layering"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/kubectl-plugin/prompt"
	"koordinator.sh/koord/source"
)

// changeFlags are the flags of every command that writes the configuration.
type changeFlags struct {
	output
	yes            bool
	dryRun         string
	forceConflicts bool
	// inputTaken says that standard input holds a file, so that no answer can come from there.
	inputTaken bool
}

func (o *changeFlags) addFlags(cmd *cobra.Command) {
	o.output.addFlags(cmd, false)
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "Write without asking")
	cmd.Flags().StringVar(&o.dryRun, "dry-run", "none", "Write nothing: none or server; without a value, server")
	cmd.Flags().Lookup("dry-run").NoOptDefVal = "server"
	cmd.Flags().BoolVar(&o.forceConflicts, "force-conflicts", false, "Take over keys that another program keeps")
	must(cmd.RegisterFlagCompletionFunc("dry-run", cobra.FixedCompletions([]string{"none", "server"}, cobra.ShellCompDirectiveNoFileComp)))
}

func (o *changeFlags) complete() error {
	if o.dryRun != "none" && o.dryRun != "server" {
		return usage("--dry-run %q: must be none or server", o.dryRun)
	}
	return o.output.complete()
}

// answerable says whether the question before writing, if there is one, can be answered.
func (o *changeFlags) answerable(s *session) error {
	switch {
	case o.yes || o.dryRun != "none":
		return nil
	case o.inputTaken:
		return usage("a file from standard input needs --yes, for nobody can answer there")
	case !s.Terminal.Input:
		return finding.Wrap(usage("standard input is no terminal, so nobody can be asked"), finding.InvalidArgument, "--yes writes without asking")
	}
	return nil
}

// change is a configuration on its way into the cluster.
type change struct {
	current *source.Configuration
	data    map[string]string
	// cause is the command, for the history.
	cause string
}

// causeOf is the command line as the history shows it.
func causeOf(s *session, cmd *cobra.Command, args []string) string {
	path := s.Name + strings.TrimPrefix(cmd.CommandPath(), cmd.Root().CommandPath())
	return strings.Join(append([]string{path}, args...), " ")
}

// inForce is the configuration as the manager applies it: a key that cannot be read keeps its last good text.
func inForce(data, lastGood map[string]string) layering.Config {
	last, _ := layering.Parse(lastGood)
	parsed, _ := layering.Parse(data)
	return layering.KeepLastGood(last, parsed)
}

// commit checks a change, shows its plan, asks, and writes it.
func (o *changeFlags) commit(ctx context.Context, s *session, configurator source.Configurator, c change) error {
	if maps.Equal(c.data, c.current.Data) && c.current.Exists {
		return o.unchanged(ctx, s, configurator, c)
	}
	if err := o.answerable(s); err != nil {
		// Errors are said first, because an answer would not help against them. Making the plan would be in vain.
		return cmp.Or(refuse(s, c, judged(c.current, c.data, nil), nothingWritten), err)
	}
	made, err := makePlan(ctx, s, configurator, c)
	if err != nil {
		return err
	}
	if err := refuse(s, c, made.found, nothingWritten); err != nil {
		return err
	}
	if o.text() {
		if err := printer.ConfigPlan(s.Streams.Out, made.view(), s.printerOptions()); err != nil {
			return err
		}
	}
	if err := incomplete(s, made.missing, false); err != nil {
		return err
	}
	if o.dryRun == "none" && !o.yes {
		if err := s.agree(ctx, c); err != nil {
			return err
		}
	}
	applied, err := o.write(ctx, s, configurator, c)
	if err != nil {
		return err
	}
	return o.report(s, made, applied)
}

// agree asks the person at the terminal; without a yes it is an error.
func (s *session) agree(ctx context.Context, c change) error {
	agreed, err := prompt.Confirm(ctx, s.Streams.In, s.Streams.ErrOut, "Write this to "+configMapName(c.current)+"?")
	if errors.Is(err, context.Canceled) {
		lineTo(s.Streams.ErrOut, "Nothing was written.")
	}
	if err != nil || agreed {
		return err
	}
	return errors.New(nothingWritten)
}

// unchanged says that there is nothing to write. A program gets the plan as of any change, without what was applied.
func (o *changeFlags) unchanged(ctx context.Context, s *session, configurator source.Configurator, c change) error {
	if o.text() {
		lineTo(s.Streams.Out, "%s unchanged", configMapName(c.current))
		return nil
	}
	made, err := makePlan(ctx, s, configurator, c)
	if err != nil {
		return err
	}
	if err := incomplete(s, made.missing, false); err != nil {
		return err
	}
	return o.report(s, made, nil)
}

// nothingWritten is what follows from a change that is refused.
const nothingWritten = "nothing was written"

// refuse ends with the errors of a change; consequence is what follows. What is wrong already and stays so is no error of
// the change.
func refuse(s *session, c change, found []decision.Finding, consequence string) error {
	var errs []decision.Finding
	for _, f := range found {
		if f.Rejects() && c.data[f.Key] != c.current.Data[f.Key] {
			errs = append(errs, f)
		}
	}
	if len(errs) == 0 {
		return nil
	}
	options := s.printerOptions()
	options.Style = s.errorStyle()
	if err := printer.ConfigFindings(s.Streams.ErrOut, "the new "+configMapName(c.current), errs, options); err != nil {
		return err
	}
	return finding.Wrap(fmt.Errorf("the new configuration has errors, and %s", consequence), errs[0].Code, "")
}

// applied is what became of a change.
type applied struct {
	// Revision that was kept of it; 0 with DryRun, or when it could not be kept.
	Revision int64 `json:"revision,omitempty"`
	// ResourceVersion of the ConfigMap.
	ResourceVersion string `json:"resourceVersion,omitempty"`
	// DryRun is true when nothing was stored.
	DryRun bool `json:"dryRun,omitempty"`
}

// write keeps the state before, if no revision has it, then writes, then keeps what was written. Interrupted anywhere, the
// next command finds the state that no revision has.
func (o *changeFlags) write(ctx context.Context, s *session, configurator source.Configurator, c change) (*applied, error) {
	dryRun := o.dryRun != "none"
	if !dryRun {
		if err := keepCurrent(ctx, s, configurator, c.current); err != nil {
			return nil, err
		}
	}
	stored, err := configurator.WriteConfiguration(ctx, source.ConfigurationWrite{Base: c.current, Data: c.data, Force: o.forceConflicts, DryRun: dryRun})
	if err != nil {
		return nil, err
	}
	out := &applied{ResourceVersion: stored.ResourceVersion, DryRun: dryRun}
	if dryRun {
		return out, nil
	}
	kept, err := configurator.KeepRevision(ctx, c.current.Namespace, source.Revision{User: s.user(ctx), Cause: c.cause, Data: stored.Data})
	if err != nil {
		lineTo(s.Streams.ErrOut, "Warning: it is written, and no revision could be kept of it: %v", err)
		return out, nil
	}
	out.Revision = kept.Number
	return out, nil
}

// keepCurrent keeps a state that somebody made in another way.
func keepCurrent(ctx context.Context, s *session, configurator source.Configurator, current *source.Configuration) error {
	revisions, err := configurator.Revisions(ctx, current.Namespace)
	if err != nil {
		return fmt.Errorf("keep the present state for rollback: %w", err)
	}
	if !current.Exists || len(revisions) > 0 && maps.Equal(revisions[len(revisions)-1].Data, current.Data) {
		return nil
	}
	_, err = configurator.KeepRevision(ctx, current.Namespace, source.Revision{Cause: "found: changed in another way", Data: current.Data})
	if err != nil {
		return fmt.Errorf("keep the present state for rollback: %w", err)
	}
	return nil
}

// user is who writes, as far as the kubeconfig tells.
func (s *session) user(ctx context.Context) string {
	src, err := s.connect()
	if err != nil {
		return ""
	}
	// The parts that need no connection are filled in also with an error.
	cluster, _ := src.Describe(ctx)
	return cluster.User
}

func (o *changeFlags) report(s *session, made *madePlan, result *applied) error {
	if !o.text() {
		made.applied = result
		list, err := made.list()
		if err != nil {
			return err
		}
		return o.print(s, list, "node", nil)
	}
	suffix := ""
	switch {
	case result.DryRun:
		suffix = " (server dry run)"
	case result.Revision > 0:
		suffix = fmt.Sprintf(" (revision %d)", result.Revision)
	}
	lineTo(s.Streams.Out, "%s configured%s", configMapName(made.change.current), suffix)
	return nil
}

// assign sets KEY.PATH=VALUE pairs in a copy of the data.
func assign(data map[string]string, assignments []string) (map[string]string, error) {
	out := maps.Clone(data)
	if out == nil {
		out = map[string]string{}
	}
	for _, text := range assignments {
		name, value, ok := cutAssignment(text)
		if !ok {
			return nil, usage("%q: must be KEY.PATH=VALUE", text)
		}
		path, err := decision.ParseKeyPath(name)
		if err != nil {
			return nil, &usageError{err}
		}
		if out[path.Key], err = decision.Set(out[path.Key], path, value); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// cutAssignment splits at the first equals sign that is not inside brackets.
func cutAssignment(text string) (name, value string, ok bool) {
	depth := 0
	for i, r := range text {
		switch {
		case r == '[':
			depth++
		case r == ']':
			depth--
		case r == '=' && depth == 0:
			return text[:i], text[i+1:], i > 0
		}
	}
	return "", "", false
}
