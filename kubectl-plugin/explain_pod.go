package kubectlplugin

import (
	"cmp"
	"context"
	"io"
	"slices"

	"github.com/spf13/cobra"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/core/jobinsight"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/source"
)

const explainPodLong = `Explain why a pod is pending, or why it runs where it runs: one sentence, then the nodes grouped by the reason they refuse
the pod with the numbers behind it, then the single smallest change that would make the pod schedulable, checked by running
the scheduler's own chain again. For a bound pod: the scores behind the choice, and the runners-up.

  NODES    nodes that refuse the pod for this reason; a node can have several reasons
  SOLE     nodes that have no other reason
  CLOSEST  the node that comes closest to taking the pod`

const explainPodExamples = `  # Explain why a pod is pending
  %[1]s explain pod web-1 -n shop

  # List the nodes of each group, the closest first
  %[1]s explain pod web-1 -n shop --nodes 20

  # Show the past scheduling attempts and what changed between them
  %[1]s explain pod web-1 -n shop --history

  # Print the verdict only
  %[1]s explain pod web-1 -n shop -o jsonpath='{.status.verdict}'`

const wideNodes = 10

type explainPodOptions struct {
	explained
	gate
	// kind is that of pods or of Reservations.
	kind      source.Kind
	namespace string
	name      string
	nodes     int32
	skipFix   bool
	history   bool
}

func newExplainPodCommand(s *session) *cobra.Command {
	return newScheduledCommand(s, source.KindPod, help{
		short: "Explain why a pod is pending, or why it runs where it runs", long: explainPodLong, examples: explainPodExamples, answer: "PodExplanation",
	})
}

// newScheduledCommand returns the command below explain for a kind that the scheduler places.
func newScheduledCommand(s *session, kind source.Kind, texts help) *cobra.Command {
	o := &explainPodOptions{kind: kind}
	cmd := newObjectCommand(s, kind, texts, o)
	o.addFlags(cmd)
	return cmd
}

func (o *explainPodOptions) addFlags(cmd *cobra.Command) {
	o.explained.addFlags(cmd)
	o.gate.addFlags(cmd)
	cmd.Flags().Int32Var(&o.nodes, "nodes", 0, "List up to this many nodes of each group; 10 with -o wide")
	cmd.Flags().BoolVar(&o.skipFix, "skip-fix", false, "Do not search for the smallest change that makes it schedulable")
	cmd.Flags().BoolVar(&o.history, "history", false, "Show the past attempts to schedule the "+o.kind.Name+", and what changed between them")
}

func (o *explainPodOptions) complete(cmd *cobra.Command, s *session, args []string) error {
	var err error
	if o.namespace, o.name, err = s.object(o.kind, args[0]); err != nil {
		return err
	}
	if !o.kind.Namespaced {
		// The question is asked in a namespace, whatever it is about.
		if o.namespace, err = s.namespace(); err != nil {
			return err
		}
	}
	if o.nodes < 0 || o.nodes > 5000 {
		return usage("--nodes %d: must be 0 to 5000", o.nodes)
	}
	if o.wide() && !cmd.Flags().Changed("nodes") {
		o.nodes = wideNodes
	}
	if err := o.gate.complete(); err != nil {
		return err
	}
	return o.explained.complete()
}

func (o *explainPodOptions) run(ctx context.Context, s *session) error {
	src, err := s.connect()
	if err != nil {
		return err
	}
	spec := diagnosticsv1alpha1.PodExplanationSpec{SkipFix: o.skipFix, History: o.history}
	if o.nodes > 0 {
		spec.MaxNodes = &o.nodes
	}
	if o.kind == source.KindReservation {
		spec.ReservationName = o.name
	}
	answer, err := src.ExplainPod(ctx, o.namespace, o.name, spec)
	if err != nil {
		return err
	}
	if runner, can := src.(source.DryRunner); can && answer.Status.Fix != nil {
		runner.DryRun(ctx, o.namespace, answer.Status.Fix)
	}
	brief := func(printer.Options) printer.Brief { return printer.BriefPod(answer) }
	if forecast := o.starts(ctx, src, answer); forecast != nil {
		brief = func(printer.Options) printer.Brief {
			return printer.BriefPod(answer).Starting(printer.NewJobForecast(o.name, forecast.Answer, forecast.Start, forecast.Missing), o.namespace)
		}
	}
	err = o.print(s, answer, o.kind.Name, brief, func(w io.Writer, options printer.Options) error {
		options.Parts = int(o.nodes)
		return printer.PodExplanation(w, answer, options)
	})
	if err != nil {
		return err
	}
	return o.check(s, append(verdictFindings(answer), answer.Status.Findings...), answer.Status.Incomplete)
}

// starts says, for a brief answer, when the quota of a job has room that has none now; nil for other pods, and where it cannot be said.
func (o *explainPodOptions) starts(ctx context.Context, src source.Source, answer *diagnosticsv1alpha1.PodExplanation) *source.JobForecast {
	refused := []finding.Code{finding.QuotaMaxExceeded, finding.QuotaShareExceeded, finding.QuotaNonPreemptibleExceeded, finding.QuotaParentExceeded}
	forecaster, can := src.(source.JobForecaster)
	if !can || o.depth != briefly || answer.Status.Verdict != diagnosticsv1alpha1.PodUnschedulable || !slices.Contains(refused, finding.Code(answer.Status.Code)) {
		return nil
	}
	forecast, err := forecaster.ForecastJob(ctx, o.namespace, o.name, jobinsight.DefaultConfidence)
	if err != nil || !forecast.IsJob {
		return nil // the answer is whole without it
	}
	return forecast
}

// verdictFindings are what the verdict means for --fail-on: a pod that no node takes is an error, one that is kept out of the
// queue is a warning, because somebody means it to wait.
func verdictFindings(answer *diagnosticsv1alpha1.PodExplanation) []diagnosticsv1alpha1.Finding {
	severity := diagnosticsv1alpha1.SeverityError
	switch answer.Status.Verdict {
	case diagnosticsv1alpha1.PodUnschedulable:
	case diagnosticsv1alpha1.PodGated:
		severity = diagnosticsv1alpha1.SeverityWarning
	default:
		return nil
	}
	code := cmp.Or(answer.Status.Code, string(answer.Status.Verdict))
	return []diagnosticsv1alpha1.Finding{{Code: code, Severity: severity, Message: answer.Status.Summary}}
}
