package kubectlplugin

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/deploy/release"
	"koordinator.sh/koord/kubectl-plugin/check"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/source"
)

const checkLong = `Check the installation and the cluster, and say what to do about each problem: versions and their skew, custom resource
definitions, the diagnostics API, components with their leaders and certificates, agents and NodeMetrics, what the kernels of the nodes
support, webhooks and what could make them block the cluster, and the configuration.

With --pre, check before the installation whether the cluster and your rights suffice. It works with other builds of Koordinator too, and
without any right to change something. What you may not read is unknown; --strict makes that an error.

A check that has nothing to look at, or that depends on one that failed, is skipped; -o wide lists these too, and -o short only what is
wrong or unknown. The exit code is 0 whatever is found, unless --fail-on says otherwise.`

const checkExamples = `  # Check everything
  %[1]s check

  # Check whether the system can be installed
  %[1]s check --pre

  # Check the webhooks and the configuration only, and print what is wrong
  %[1]s check webhook config -o short

  # After an installation, wait up to two minutes until everything works, and exit with 79 if it does not
  %[1]s check --wait 2m --fail-on error

  # Write a report for a pipeline
  %[1]s check -o junit > koordinator.xml`

// Formats of check beside those of all answers.
const shortFormat, junitFormat = "short", "junit"

type checkOptions struct {
	output
	gate
	wait        time.Duration
	releaseName string
	selection   check.Selection
}

func newCheckCommand(s *session) *cobra.Command {
	o := &checkOptions{}
	o.output.more = []string{shortFormat, junitFormat}
	cmd := &cobra.Command{
		Use:               "check [" + strings.Join(check.CategoryNames(), "|") + "]...",
		Short:             "Check the installation and say what to do about each problem",
		Long:              checkLong,
		Example:           fmt.Sprintf(checkExamples, s.Name),
		Annotations:       map[string]string{answerAnnotation: "CheckReport"},
		GroupID:           "see",
		ValidArgsFunction: completeCategories,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.complete(args); err != nil {
				return err
			}
			return o.run(cmd.Context(), s)
		},
	}
	o.output.addFlags(cmd, false)
	o.gate.addFlags(cmd)
	cmd.Flags().BoolVar(&o.selection.Before, "pre", false, "Check what an installation needs, before it")
	cmd.Flags().DurationVar(&o.wait, "wait", 0, "Check again until nothing fails that time may help, at most for this long")
	cmd.Flags().StringVar(&o.releaseName, "release-name", release.DefaultName, "Name of the Helm release")
	return cmd
}

// completeCategories proposes the categories that are not named yet.
func completeCategories(_ *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return matching(check.CategoryNames(), args, prefix), cobra.ShellCompDirectiveNoFileComp
}

func (o *checkOptions) complete(args []string) error {
	if err := o.gate.complete(); err != nil {
		return err
	}
	if err := o.output.complete(); err != nil {
		return err
	}
	if o.wait < 0 {
		return usage("--wait must not be negative")
	}
	var err error
	if o.selection.Categories, err = check.ParseCategories(args); err != nil {
		return usage("%w", err)
	}
	return nil
}

func (o *checkOptions) run(ctx context.Context, s *session) error {
	src, err := s.connect()
	if err != nil {
		return err
	}
	cluster := s.checked(src, o.releaseName)
	report, err := check.Await(ctx, s.Clock, o.wait, func(ctx context.Context) (*check.Report, error) { return checkOnce(ctx, cluster, o.selection) })
	if err != nil {
		return err
	}
	if err := o.show(s, report); err != nil {
		return err
	}
	return o.gate.check(s, report.Findings(), report.Incomplete)
}

// checked is the cluster of a source, with a Helm release in it.
func (s *session) checked(src source.Source, releaseName string) *check.Cluster {
	namespace := s.systemNamespace()
	if namespace == "" {
		namespace = release.DefaultNamespace
	}
	return &check.Cluster{
		Getter: newGetter(s), Source: src, Clock: s.Clock, Version: s.Version.Version,
		Release: release.Options{ReleaseName: releaseName, Namespace: namespace},
	}
}

// checkOnce reads the facts and judges them.
func checkOnce(ctx context.Context, cluster *check.Cluster, selection check.Selection) (*check.Report, error) {
	facts, err := cluster.Gather(ctx, selection)
	if err != nil {
		return nil, err
	}
	return check.NewReport(selection, facts), nil
}

func (o *checkOptions) show(s *session, report *check.Report) error {
	switch o.format {
	case shortFormat:
		return printer.ShortChecks(s.Streams.Out, checkGroups(report, func(r *check.Result) bool { return r.State != check.Pass && r.State != check.Skipped }), s.printerOptions())
	case junitFormat:
		return check.WriteJUnit(s.Streams.Out, report, diagnosticsv1alpha1.Severity(o.failOn))
	}
	object, err := objectOf("CheckReport", report.Namespace, report)
	if err != nil {
		return err
	}
	return o.output.print(s, object, "checkreport", func(w io.Writer, options printer.Options) error {
		summary := report.Summary.String()
		if report.Summary.Skipped > 0 && !options.Wide {
			summary += "; -o wide shows why"
		}
		shown := checkGroups(report, func(r *check.Result) bool { return r.State != check.Skipped || options.Wide })
		if err := printer.Checks(w, shown, summary, options); err != nil {
			return err
		}
		return printer.FeatureMatrix(w, featureRows(report, options.Wide), options)
	})
}

// checkGroups are the rows of the checks that are kept, by category.
func checkGroups(report *check.Report, keep func(*check.Result) bool) []printer.CheckGroup {
	var groups []printer.CheckGroup
	for i := range report.Checks {
		result := &report.Checks[i]
		if !keep(result) {
			continue
		}
		if len(groups) == 0 || groups[len(groups)-1].Name != string(result.Category) {
			groups = append(groups, printer.CheckGroup{Name: string(result.Category)})
		}
		last := &groups[len(groups)-1]
		last.Rows = append(last.Rows, checkRow(result))
	}
	return groups
}

func checkRow(result *check.Result) printer.CheckRow {
	row := printer.CheckRow{ID: result.ID, State: strings.ToLower(string(result.State)), Detail: result.Detail, Title: result.Title, Role: checkRole(result.State)}
	for i := range result.Findings {
		f := &result.Findings[i]
		row.Notes = append(row.Notes, printer.CheckNote{
			Severity: f.Severity, Code: f.Code, Message: f.Message, Help: f.Help(), Documentation: f.Documentation,
		})
	}
	return row
}

func checkRole(state check.State) printer.Role {
	switch state {
	case check.Pass:
		return printer.Good
	case check.Failed:
		return printer.Bad
	case check.Skipped:
		return printer.Dim
	default:
		return printer.Warn
	}
}

// featureRows are the features that some node does not support, or with -o wide all.
func featureRows(report *check.Report, wide bool) []printer.FeatureRow {
	var rows []printer.FeatureRow
	for i := range report.Capabilities {
		c := &report.Capabilities[i]
		if len(c.Unsupported) == 0 && !wide {
			continue
		}
		var gaps []string
		for _, gap := range c.Unsupported {
			gaps = append(gaps, fmt.Sprintf("%s (nodes: %d)", gap.Reason, len(gap.Nodes)))
		}
		rows = append(rows, printer.FeatureRow{
			Name: c.Feature, Nodes: c.Nodes, Enabled: c.Enabled, Configured: c.Configured, Supported: c.Supported, Effective: c.Effective, Known: c.Nodes - c.Unknown, Gaps: strings.Join(gaps, "; "),
		})
	}
	return rows
}
