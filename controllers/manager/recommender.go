package manager

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	"koordinator.sh/koord/controllers/jobinsight"
	"koordinator.sh/koord/controllers/recommender"
)

// RecommenderOptions are the flags of the recommender.
type RecommenderOptions struct {
	// Recommender updates the status of Recommendations.
	Recommender bool
	// RecommenderApply resizes running pods for Recommendations that enable it.
	RecommenderApply bool
}

func (o *RecommenderOptions) addFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&o.Recommender, "recommender", o.Recommender, "Update the status of Recommendations with the requests that workloads should have, based on their usage")
	flags.BoolVar(&o.RecommenderApply, "recommender-apply", o.RecommenderApply,
		"Resize running pods in place for Recommendations with the annotation analysis.koordinator.sh/apply=in-place")
}

// addRecommender adds the recommender unless it is disabled.
func addRecommender(ctx context.Context, mgr ctrl.Manager, options *Options) error {
	if !options.Recommender {
		return nil
	}
	o := recommender.Options{Apply: options.RecommenderApply}
	if options.JobInsight {
		o.Runs = jobinsight.NewRuns(mgr.GetAPIReader(), options.ConfigNamespace, clock.RealClock{})
	}
	if err := recommender.AddToManager(ctx, mgr, o); err != nil {
		return fmt.Errorf("add the recommender: %w", err)
	}
	return nil
}
