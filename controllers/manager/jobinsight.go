package manager

import (
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"

	"koordinator.sh/koord/controllers/jobinsight"
)

// addJobInsight adds the collector of jobs unless it is disabled.
func addJobInsight(mgr ctrl.Manager, options *Options) error {
	if !options.JobInsight {
		return nil
	}
	if err := jobinsight.AddToManager(mgr, options.ConfigNamespace); err != nil {
		return fmt.Errorf("add job insight: %w", err)
	}
	return nil
}
