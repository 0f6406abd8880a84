package arbitrator

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"koordinator.sh/koord/decision/descheduling/arbitration"
)

// maxRecorded bounds the jobs of a round on which it is written what they wait for. The others follow in the next rounds.
const maxRecorded = 20

// record writes on waiting jobs what they wait for, where that is news. A job that changed since is written in another round.
func (a *Arbitrator) record(ctx context.Context, round *round) error {
	var errs []error
	written := 0
	for _, outcome := range round.verdict.Outcomes {
		if outcome.Decision != arbitration.Waiting || written == maxRecorded {
			continue
		}
		job := round.jobs[outcome.UID]
		after := job.DeepCopy()
		news, err := arbitration.MarkWaiting(after, outcome, a.config.Now())
		if err == nil && news {
			written++
			err = a.config.Client.Patch(ctx, after, client.MergeFromWithOptions(job, client.MergeFromWithOptimisticLock{}))
		}
		if err != nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
			errs = append(errs, fmt.Errorf("record what PodMigrationJob %s waits for: %w", job.Name, err))
		}
	}
	return errors.Join(errs...)
}
