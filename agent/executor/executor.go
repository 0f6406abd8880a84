package executor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"koordinator.sh/koord/agent/audit"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/agent/host/process"
)

const (
	// verifyInterval is how often a value is read that should still be there.
	verifyInterval = time.Minute
	// maxRetryInterval is the longest time between two attempts to write what the kernel refuses. They begin a second apart.
	maxRetryInterval = 30 * time.Second
	// saveRetryInterval is the time between two attempts to keep originals where that fails.
	saveRetryInterval = 10 * time.Second
	// maxListedFailures bounds the failures that one error lists.
	maxListedFailures = 10
)

// Options of an Executor.
type Options struct {
	// Tree of cgroups, and its Layout.
	Tree   files.FS
	Layout cgroup.Layout
	// Proc and Sys are the trees at /proc and /sys; nil where nothing is set in them.
	Proc, Sys files.FS
	// Owners that may declare values, the one that ranks highest first.
	Owners []string
	// Originals are kept there, so that they are restored after a crash too.
	Originals Store
	Audit     *audit.Log
	Clock     clock.PassiveClock
}

// Store keeps what was there before the agent wrote. See checkpoint.File.
type Store interface {
	Save(data any) error
	Load(data any) (bool, error)
}

// Executor writes cgroups. All methods may be called at the same time; writes happen one after the other, and only Anticipate does not
// wait for them.
type Executor struct {
	options Options

	mu      sync.Mutex
	desired map[string][]DesiredValue
	// pending are the values declared by DeclarePending. It has a separate lock because mu is held while originals go to the disk.
	pending pendingValues
	managed map[target]*managedFile
	// unknownRecords are records of the store that only another version of the agent understands.
	unknownRecords []record
	canonical      canonicals
	// chosen is the memory of what a pass works on.
	chosen map[target]choice
	// bootID is the machine's current one; empty where it cannot be read.
	bootID string
	// loadErr is why the store cannot be read; nil when it was.
	loadErr error
	// dirty is set when the store is out of date; saveErr is why it could not be saved, nil when it could. storeFailedAt is when
	// the store was tried last that could not be read or written.
	dirty         bool
	saveErr       error
	storeFailedAt time.Time
	// failures is what the latest pass could not bring about; nil when it could everything.
	failures map[target]failureRecord
	// counts by owner, since the executor was made.
	counts map[string]WriteCounts
}

// managedFile is a file that a feature has set, and what it was before.
type managedFile struct {
	// original is what is written when no feature wants anything of the file: its content before, as it was read.
	original string
	// value is what was written last, canonical, and verified when it was last seen to be there.
	value    string
	verified time.Time
	owner    string
	// saved says that the store has an original of the file, which it has to before the file is written.
	saved bool
	// inherited from an earlier executor, and not looked at since: value is not known.
	inherited bool
	// refused is what the kernel refused last, and what it answered; auditedAt is when that was last audited.
	refused   string
	auditedAt time.Time
	refusal   refusal
}

// shouldAudit reports whether a write is one to be audited: a refusal that is repeated is one once a minute only.
func (h *managedFile) shouldAudit(value, problem string, now time.Time) bool {
	refused := ""
	if problem != "" {
		refused = value + ": " + problem
	}
	if h == nil || refused == "" || refused != h.refused || now.Sub(h.auditedAt) >= verifyInterval || now.Before(h.auditedAt) {
		if h != nil {
			h.refused, h.auditedAt = refused, now
		}
		return true
	}
	return false
}

// Failure is a desired value that could not be set.
type Failure struct {
	Owner, Setting, Cgroup string
	Err                    error
}

// Error implements error.
func (f Failure) Error() string {
	if f.Cgroup == "" {
		return fmt.Sprintf("%s: set %s: %v", f.Owner, f.Setting, f.Err)
	}
	return fmt.Sprintf("%s: set %s of %s: %v", f.Owner, f.Setting, f.Cgroup, f.Err)
}

// Unwrap returns the kernel's error.
func (f Failure) Unwrap() error { return f.Err }

// Outcome of an Apply.
type Outcome struct {
	// Writes done.
	Writes int
	// Failures are values and restorations that the kernel refused; they are tried again at the next Apply.
	Failures []Failure
}

// Err returns the failures as one error, the first ten in full; nil when there are none.
func (o Outcome) Err() error {
	told := min(len(o.Failures), maxListedFailures)
	problems := make([]error, 0, told+1)
	for _, failure := range o.Failures[:told] {
		problems = append(problems, failure)
	}
	if more := len(o.Failures) - told; more > 0 {
		problems = append(problems, fmt.Errorf("and %d more", more))
	}
	return errors.Join(problems...)
}

// New returns an Executor that holds what the store says an earlier one did. An error, which is a finding.Error, says that the store
// cannot be read: the Executor that comes with it writes nothing until it can.
func New(options Options) (*Executor, error) {
	e := &Executor{
		options: options, desired: map[string][]DesiredValue{}, managed: map[target]*managedFile{}, counts: map[string]WriteCounts{}, chosen: map[target]choice{},
		canonical: canonicals{find: canonicalIn(options.Layout.Version), known: map[valueKey]canonicalValue{}},
	}
	if options.Proc != nil {
		e.bootID = process.Boot(options.Proc)
	}
	e.load(options.Clock.Now())
	return e, e.loadErr
}

// Declare replaces all that an owner wants; nil for nothing. Nothing is written before Apply.
func (e *Executor) Declare(owner string, values []DesiredValue) error {
	if !slices.Contains(e.options.Owners, owner) {
		return fmt.Errorf("declare values of %q: unknown owner, want one of %q", owner, e.options.Owners)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.desired[owner] = values
	return nil
}

// Apply brings the cgroups to what is declared. The error says that originals could not be kept, in which case nothing is written
// whose original the store does not have; that those of an earlier Executor cannot be read, in which case nothing is written at all; or
// that the context has ended between two writes.
func (e *Executor) Apply(ctx context.Context) (Outcome, error) { return e.apply(ctx, false) }

// apply is Apply; with force it also tries what is not due yet.
func (e *Executor) apply(ctx context.Context, force bool) (Outcome, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	clear(e.chosen)
	failures := merge(e.chosen, e.options.Owners, e.pending.after(e.desired), e.canonical.of)
	pass := &pass{executor: e, now: e.options.Clock.Now(), outcome: Outcome{Failures: failures}, force: force}
	defer e.recordFailures(pass)
	if err := e.reload(pass.now, force); err != nil {
		pass.failAll(err)
		return pass.outcome, err
	}
	pass.compareAll(e.chosen)
	saveErr := e.save(pass.now, force)
	if saveErr != nil {
		pass.skipUnsaved(saveErr)
	}
	if err := pass.write(ctx); err != nil || saveErr != nil {
		return pass.outcome, errors.Join(saveErr, err)
	}
	return pass.outcome, e.save(pass.now, force)
}

// Restore gives everything back, as if no owner wanted anything.
func (e *Executor) Restore(ctx context.Context) (Outcome, error) {
	e.mu.Lock()
	clear(e.desired)
	e.pending.forget()
	e.mu.Unlock()
	return e.apply(ctx, true)
}
