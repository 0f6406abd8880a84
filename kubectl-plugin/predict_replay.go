package kubectlplugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"koordinator.sh/koord/agent/host/trace"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/core/predict"
	"koordinator.sh/koord/kubectl-plugin/printer"
)

const predictReplayLong = `Replay recorded CPU usage through the predictor profiles and show how well each predicts: how often the pods of a node used
more than predicted, by how much, and what share of their limits the prediction would have freed.

The recordings are those that "sandbox up --trace" takes: a CSV file or a directory of them, tables of machines
("interval,NAME,...", percent of the limit every five minutes) and recordings of services ("ts,value"). A service's limit is
assumed to be 1.3 times its peak. Recordings are assigned to nodes in order, --pods-per-node each; every node predicts the peak
of the coming --horizon from the past only. No cluster is contacted.`

const predictReplayExamples = `  # Compare all profiles on a recording
  %[1]s predict replay -f trace.csv

  # Compare two profiles a day ahead, in a script
  %[1]s predict replay -f traces/ --profile seasonal --profile koordinator --horizon 24h -o json`

type predictReplayOptions struct {
	output
	file        string
	profiles    []string
	podsPerNode int
	replay      predict.ReplayOptions
}

func newPredictReplayCommand(s *session) *cobra.Command {
	o := &predictReplayOptions{replay: predict.ReplayOptions{}.WithDefaults()}
	cmd := &cobra.Command{
		Use:     "replay -f TRACE",
		Short:   "Replay recorded usage through the predictor profiles and compare them",
		Long:    predictReplayLong,
		Example: fmt.Sprintf(predictReplayExamples, s.Name),
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			profiles, err := o.complete()
			if err != nil {
				return err
			}
			return o.run(cmd.Context(), s, profiles)
		},
	}
	o.addFlags(cmd, true)
	flags := cmd.Flags()
	flags.StringVarP(&o.file, "filename", "f", "", "CSV file of recorded usage, or a directory of such files")
	flags.StringArrayVar(&o.profiles, "profile", nil, "Profile to replay, can be repeated (default all)")
	flags.IntVar(&o.podsPerNode, "pods-per-node", 10, "Number of recordings on each node")
	flags.DurationVar(&o.replay.Horizon, "horizon", o.replay.Horizon, "How far ahead a peak is predicted")
	flags.DurationVar(&o.replay.Every, "every", o.replay.Every, "Time between two predictions")
	flags.DurationVar(&o.replay.WarmUp, "warm-up", o.replay.WarmUp, "History before the first prediction")
	flags.DurationVar(&o.replay.ColdStart, "cold-start", 0, "Age below which a pod is assumed to need its limit")
	must(cmd.RegisterFlagCompletionFunc("profile", completeProfiles))
	return cmd
}

// complete checks the flags and returns the profiles to replay.
func (o *predictReplayOptions) complete() ([]predict.Profile, error) {
	if err := o.output.complete(); err != nil {
		return nil, err
	}
	if o.file == "" {
		return nil, usage("must specify --filename")
	}
	if o.podsPerNode < 1 {
		return nil, usage("--pods-per-node %d: must be at least 1", o.podsPerNode)
	}
	for _, flag := range []struct {
		name  string
		value time.Duration
		least time.Duration
	}{
		{"horizon", o.replay.Horizon, time.Minute}, {"every", o.replay.Every, time.Minute},
		{"warm-up", o.replay.WarmUp, time.Minute}, {"cold-start", o.replay.ColdStart, 0},
	} {
		if flag.value < flag.least {
			return nil, usage("--%s %s: must be at least %s", flag.name, flag.value, flag.least)
		}
	}
	if len(o.profiles) == 0 {
		return predict.Profiles(), nil
	}
	var chosen []predict.Profile
	for _, name := range o.profiles {
		profile, err := predict.ProfileNamed(name)
		if err != nil {
			return nil, usage("--profile: %w", err)
		}
		chosen = append(chosen, profile)
	}
	return chosen, nil
}

func (o *predictReplayOptions) run(ctx context.Context, s *session, profiles []predict.Profile) error {
	set, err := trace.Open(o.file)
	if err != nil {
		return finding.Wrap(errors.Unwrap(err), finding.SandboxTraceInvalid, "correct the recording; see `koordctl predict replay --help` for its form")
	}
	nodes := nodesOfTrace(set, o.podsPerNode)
	answer := printer.PredictionReplay{ReplayedLoad: printer.ReplayedLoad{
		Trace: o.file, Nodes: len(nodes), Recordings: len(set.VMs) + len(set.Services), Horizon: brief(o.replay.Horizon),
	}}
	for _, profile := range profiles {
		if err := ctx.Err(); err != nil {
			return err
		}
		score, err := predict.Replay(profile, nodes, o.replay)
		if err != nil {
			return fmt.Errorf("replay %q: %w", o.file, err)
		}
		if score.Points == 0 {
			return finding.Wrap(fmt.Errorf("replay %q: no recording is longer than --warm-up %s and --horizon %s together",
				o.file, brief(o.replay.WarmUp), brief(o.replay.Horizon)), finding.InvalidArgument, "shorten --warm-up or --horizon")
		}
		answer.Profiles = append(answer.Profiles, printer.ProfileScore{Profile: profile, Score: score})
	}
	list, err := listOf("PredictionScore", answer.Profiles, func(p *printer.ProfileScore) string { return p.Name }, answer.ReplayedLoad)
	if err != nil {
		return err
	}
	return o.print(s, list, "profile", func(w io.Writer, options printer.Options) error {
		return printer.Replay(w, answer, options)
	})
}

// brief is a duration without zeros at its end: 1h for 1h0m0s.
func brief(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

func completeProfiles(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var out []cobra.Completion
	for _, profile := range predict.Profiles() {
		out = append(out, cobra.CompletionWithDesc(profile.Name, profile.Summary))
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}
