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
)

// verifyEvery is how often a value is read that should still be there.
const verifyEvery = time.Minute

// Options of an Executor.
type Options struct {
	// Tree of cgroups, and its Layout.
	Tree   files.FS
	Layout cgroup.Layout
	// Owners that may declare wishes, the one that ranks highest first.
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

// Executor writes cgroups. All methods may be called at the same time; writes happen one after the other.
type Executor struct {
	options Options

	mu     sync.Mutex
	wishes map[string][]Wish
	held   map[target]*holding
	// unsaved says that the store has other holdings.
	unsaved bool
}

// holding is a file that a feature has set.
type holding struct {
	// original is what is written when no feature wants anything of the file: its content before, as it was read.
	original string
	// value is what was written last, canonical, and verified when it was last seen to be there.
	value    string
	verified time.Time
	owner    string
	// inherited from an earlier executor, and not looked at since: value is not known.
	inherited bool
}

// Failure is a wish that did not come true.
type Failure struct {
	Owner, Setting, Cgroup string
	Err                    error
}

// Error implements error.
func (f Failure) Error() string {
	return fmt.Sprintf("%s: set %s of %s: %v", f.Owner, f.Setting, f.Cgroup, f.Err)
}

// Unwrap returns the kernel's error.
func (f Failure) Unwrap() error { return f.Err }

// Outcome of an Apply.
type Outcome struct {
	// Writes done.
	Writes int
	// Failures are wishes and restorations that the kernel refused; they are tried again at the next Apply.
	Failures []Failure
}

// Err returns all failures as one error; nil when there are none.
func (o Outcome) Err() error {
	problems := make([]error, len(o.Failures))
	for i, failure := range o.Failures {
		problems[i] = failure
	}
	return errors.Join(problems...)
}

// New returns an Executor that holds what the store says an earlier one did.
func New(options Options) (*Executor, error) {
	e := &Executor{options: options, wishes: map[string][]Wish{}, held: map[target]*holding{}}
	return e, e.load()
}

// Declare replaces all that an owner wants; nil for nothing. Nothing is written before Apply.
func (e *Executor) Declare(owner string, wishes []Wish) error {
	if !slices.Contains(e.options.Owners, owner) {
		return fmt.Errorf("declare what %q wants of cgroups: no such owner among %q", owner, e.options.Owners)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.wishes[owner] = wishes
	return nil
}

// Apply brings the cgroups to what is declared. The error says that originals could not be kept, in which case nothing that was
// not held before is written, or that the context has ended between two writes.
func (e *Executor) Apply(ctx context.Context) (Outcome, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	chosen, failures := merge(e.options.Layout.Version, e.options.Owners, e.wishes)
	pass := &pass{executor: e, now: e.options.Clock.Now(), outcome: Outcome{Failures: failures}}
	pass.look(chosen)
	if err := e.save(); err != nil {
		return pass.outcome, err
	}
	if err := pass.write(ctx); err != nil {
		return pass.outcome, err
	}
	return pass.outcome, e.save()
}

// Restore gives everything back, as if no owner wanted anything.
func (e *Executor) Restore(ctx context.Context) (Outcome, error) {
	e.mu.Lock()
	clear(e.wishes)
	e.mu.Unlock()
	return e.Apply(ctx)
}
