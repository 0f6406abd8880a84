package kubectlplugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/core/jobinsight"
	"koordinator.sh/koord/kubectl-plugin/jobtrace"
	"koordinator.sh/koord/kubectl-plugin/printer"
)

const predictReplayJobsLong = `Replay recorded jobs through the predictor of jobs, and show how well it predicts: what share of the results is inside of the
intervals that it states, and what requests at the upper end of the interval would have freed.

Each job is predicted when it starts, from the jobs that had ended by then. Jobs of the time of --warm-up are learned from and not
judged. Jobs that ended early are learned from as lower bounds, and are in no rate. No cluster is contacted.

A file whose name ends in .swf is read in the Standard Workload Format of the Parallel Workloads Archive. Any other is CSV, with a
header that has "started" and "ended", as Unix seconds or as in RFC 3339, and any of:

  user, queue, application, shape  what jobs of one kind have in common
  submitted, time_limit            time of the submission; seconds that the job was given
  requested_memory, peak_memory    bytes or quantities, such as 4Gi
  requested_cpu, used_cpu          cores; used is the mean of the run
  outcome                          completed, oom-killed, failed or killed

--synthetic replays generated jobs instead of a file: recurring ones, some of which grow, ones that run once, failures and OOM kills.`

const predictReplayJobsExamples = `  # Judge the predictor on generated jobs
  %[1]s predict replay-jobs --synthetic

  # Judge it on your own jobs, with requests that 1%% of the jobs exceed
  %[1]s predict replay-jobs -f jobs.csv --confidence 0.98

  # Print the coverage of each metric
  %[1]s predict replay-jobs -f trace.swf -o jsonpath='{range .items[*]}{.metric}={.coverage}{"\n"}{end}'`

type predictReplayJobsOptions struct {
	output
	file      string
	synthetic bool
	kinds     int
	generate  jobtrace.GenerateOptions
	replay    jobinsight.ReplayOptions
}

func newPredictReplayJobsCommand(s *session) *cobra.Command {
	o := &predictReplayJobsOptions{replay: jobinsight.ReplayOptions{}.WithDefaults()}
	cmd := &cobra.Command{
		Use:     "replay-jobs -f FILE | --synthetic",
		Short:   "Replay recorded jobs and judge what is predicted of them",
		Long:    predictReplayJobsLong,
		Example: fmt.Sprintf(predictReplayJobsExamples, s.Name),
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.complete(); err != nil {
				return err
			}
			return o.run(cmd.Context(), s)
		},
	}
	o.addFlags(cmd, true)
	flags := cmd.Flags()
	flags.StringVarP(&o.file, "filename", "f", "", "File of recorded jobs, as CSV or SWF")
	flags.BoolVar(&o.synthetic, "synthetic", false, "Replay generated jobs")
	flags.Uint64Var(&o.generate.Seed, "seed", 1, "Seed of the generated jobs")
	flags.IntVar(&o.generate.Days, "days", 28, "Days of generated jobs")
	flags.Float64Var(&o.replay.Confidence, "confidence", o.replay.Confidence, "Share of the results that intervals are to cover, 0.5 to 0.99")
	flags.DurationVar(&o.replay.WarmUp, "warm-up", o.replay.WarmUp, "Time from the first job on that is not judged")
	flags.IntVar(&o.kinds, "kinds", 5, "List up to this many kinds of jobs, those with the most runs")
	return cmd
}

func (o *predictReplayJobsOptions) complete() error {
	if err := o.output.complete(); err != nil {
		return err
	}
	switch {
	case (o.file == "") != o.synthetic:
		return usage("must specify either --filename or --synthetic")
	case !(o.replay.Confidence >= jobinsight.LeastConfidence && o.replay.Confidence <= jobinsight.MostConfidence):
		return usage("--confidence %g: must be %g to %g", o.replay.Confidence, jobinsight.LeastConfidence, jobinsight.MostConfidence)
	case o.replay.WarmUp < time.Minute:
		return usage("--warm-up %s: must be at least %s", o.replay.WarmUp, time.Minute)
	case o.generate.Days < 1 || o.generate.Days > 3650:
		return usage("--days %d: must be 1 to 3650", o.generate.Days)
	case o.kinds < 0:
		return usage("--kinds %d: must be at least 0", o.kinds)
	}
	return nil
}

func (o *predictReplayJobsOptions) run(ctx context.Context, s *session) error {
	name, jobs := fmt.Sprintf("generated with seed %d", o.generate.Seed), []jobinsight.Job(nil)
	if o.synthetic {
		jobs = jobtrace.Generate(o.generate)
	} else {
		var err error
		if jobs, err = jobtrace.Open(o.file); err != nil {
			return finding.Wrap(err, finding.SandboxTraceInvalid, "correct the record; see `koordctl predict replay-jobs --help` for its form")
		}
		name = o.file
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	report := jobinsight.Replay(jobs, o.replay)
	if report.HeldOut == 0 {
		return finding.Wrap(errors.New(name+": no job started later than --warm-up "+brief(o.replay.WarmUp)+" after the first"), finding.InvalidArgument, "shorten --warm-up")
	}
	answer := printer.NewJobReplay(name, o.replay.Confidence, report, o.kinds)
	list, err := listOf("JobPredictionScore", answer.Metrics, func(m *printer.JobScore) string { return m.Metric }, answer.ReplayedJobs)
	if err != nil {
		return err
	}
	return o.print(s, list, "metric", func(w io.Writer, options printer.Options) error { return printer.Jobs(w, answer, options) })
}
