package kubectlplugin

import "github.com/spf13/cobra"

const predictLong = `Evaluate predictions of peak usage. What pods request but are predicted not to need is offered to others: a prediction that is
too high wastes it, one that is too low makes pods compete. What jobs will use and how long they take is predicted from former
runs of their kind.`

func newPredictCommand(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "predict",
		Short:   "Evaluate predictors of peak usage and of jobs",
		Long:    predictLong,
		GroupID: "see",
	}
	cmd.AddCommand(newPredictReplayCommand(s), newPredictReplayJobsCommand(s))
	return cmd
}
