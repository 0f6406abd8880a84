package arbitrator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/arbitration"
)

const (
	// LedgerName is the ConfigMap that serializes admissions.
	LedgerName = "koord-descheduler-arbitration"
	// admittedKey of its data has the entries.
	admittedKey = "admitted"
	// maxEntries keeps the ledger far below the size of an object. Further jobs are admitted in the next round.
	maxEntries = 1000
)

// entry is a job that was admitted, and that may not have its annotation yet.
type entry struct {
	UID  types.UID `json:"uid"`
	Name string    `json:"name"`
	arbitration.Admission
}

// ledger is the ConfigMap with its entries.
type ledger struct {
	object  corev1.ConfigMap
	found   bool
	entries []entry
}

// readLedger reads past the cache. Entries that cannot have been written here are an error: dropping them could exceed limits.
func (a *Arbitrator) readLedger(ctx context.Context) (*ledger, error) {
	out := &ledger{object: corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: a.config.Namespace, Name: LedgerName}}}
	err := a.config.Live.Get(ctx, client.ObjectKeyFromObject(&out.object), &out.object)
	switch {
	case apierrors.IsNotFound(err):
		return out, nil
	case err != nil:
		return nil, fmt.Errorf("get ConfigMap %s/%s: %w", a.config.Namespace, LedgerName, err)
	}
	out.found = true
	if text := out.object.Data[admittedKey]; text != "" {
		if err := json.Unmarshal([]byte(text), &out.entries); err != nil {
			return nil, fmt.Errorf("read ConfigMap %s/%s: %s: %w; delete the ConfigMap when no descheduler runs", a.config.Namespace, LedgerName, admittedKey, err)
		}
	}
	return out, nil
}

// save writes the entries unless the ledger was written since it was read.
func (a *Arbitrator) save(ctx context.Context, ledger *ledger) error {
	text, err := json.Marshal(ledger.entries)
	if err != nil {
		return fmt.Errorf("encode the ledger: %w", err)
	}
	ledger.object.Data = map[string]string{admittedKey: string(text)}
	if ledger.found {
		err = a.config.Client.Update(ctx, &ledger.object)
	} else {
		err = a.config.Client.Create(ctx, &ledger.object)
	}
	if err != nil {
		return fmt.Errorf("write ConfigMap %s/%s: %w", a.config.Namespace, LedgerName, err)
	}
	return nil
}

// keep drops the entries of jobs that run, ended or are gone.
func (l *ledger) keep(jobs map[types.UID]*schedulingv1alpha1.PodMigrationJob) {
	var kept []entry
	for _, entry := range l.entries {
		if job := jobs[entry.UID]; job != nil && arbitration.StateOf(job) == arbitration.Pending {
			kept = append(kept, entry)
		}
	}
	l.entries = kept
}

// admit lets jobs start, as the package describes, after a round that was made of the cache. A conflict ends the round: another descheduler
// admitted jobs at the same time.
func (a *Arbitrator) admit(ctx context.Context, settings Settings, round *round) error {
	ledger, err := a.readLedger(ctx)
	if err != nil {
		return err
	}
	round, seen, err := a.current(ctx, settings, ledger, round)
	if err != nil {
		return err
	}
	a.seen = "" // until it is known what became of the ledger
	if ledger.add(round) {
		if err := a.save(ctx, ledger); apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
			a.config.Log.V(2).Info("Another arbitrator admitted jobs at the same time, the round is repeated")
			return nil
		} else if err != nil {
			return err
		}
	}
	if seen {
		a.seen = ledger.object.ResourceVersion
	}
	var errs []error
	for _, entry := range ledger.entries {
		errs = append(errs, a.annotate(ctx, round.jobs[entry.UID], entry))
	}
	return errors.Join(errs...)
}

// current is a round that counts all that was admitted, and whether the cache shows all of it that is not in the ledger. The round that was
// made of the cache is one while no other descheduler wrote the ledger since the cache was seen to do so, and the ledger has nothing that
// the cache does not show. Entries that need not be kept are dropped from the ledger.
func (a *Arbitrator) current(ctx context.Context, settings Settings, ledger *ledger, round *round) (*round, bool, error) {
	if ledger.found && a.seen == ledger.object.ResourceVersion {
		if ledger.keep(round.jobs); len(ledger.entries) == 0 {
			return round, true, nil
		}
		again, err := a.decide(ctx, settings, round.listed, ledger.entries)
		return again, true, err
	}
	var list schedulingv1alpha1.PodMigrationJobList
	if err := a.config.Live.List(ctx, &list); err != nil {
		return nil, false, fmt.Errorf("list PodMigrationJobs: %w", err)
	}
	ledger.keep(byUID(list.Items))
	again, err := a.decide(ctx, settings, list.Items, ledger.entries)
	return again, shows(round.listed, list.Items), err
}

// shows reports whether a cache shows all jobs that there are, and of each that was admitted, that it was.
func shows(cached, jobs []schedulingv1alpha1.PodMigrationJob) bool {
	known := byUID(cached)
	for i := range jobs {
		job := known[jobs[i].UID]
		if job == nil || arbitration.StateOf(job) == arbitration.Pending && arbitration.StateOf(&jobs[i]) != arbitration.Pending {
			return false
		}
	}
	return true
}

// add adds what a round admits, and reports whether that is anything. What was written before and is left to be annotated needs no write.
func (l *ledger) add(round *round) bool {
	before := len(l.entries)
	for _, outcome := range round.verdict.Outcomes {
		if outcome.Decision == arbitration.Admitted && len(l.entries) < maxEntries {
			job := round.input[outcome.UID]
			l.entries = append(l.entries, entry{UID: job.UID, Name: job.Name, Admission: arbitration.Admission{
				Node: job.Node, Workload: job.Workload, Title: round.titles[job.Workload], ReplacedFirst: job.ReplacedFirst,
			}})
		}
	}
	return len(l.entries) > before
}

// annotate lets one job start. A job that changed since is annotated in the next round.
func (a *Arbitrator) annotate(ctx context.Context, job *schedulingv1alpha1.PodMigrationJob, entry entry) error {
	after := job.DeepCopy()
	arbitration.Admit(after, entry.Admission)
	err := a.config.Client.Patch(ctx, after, client.MergeFromWithOptions(job, client.MergeFromWithOptimisticLock{}))
	switch {
	case apierrors.IsConflict(err) || apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("annotate PodMigrationJob %s with %s: %w", job.Name, extension.AnnotationPassedArbitration, err)
	}
	a.config.Log.V(1).Info("PodMigrationJob may start", "job", job.Name, "node", entry.Node, "workload", entry.Title)
	return nil
}
