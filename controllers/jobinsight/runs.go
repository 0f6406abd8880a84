package jobinsight

import (
	"context"
	"sync"
	"time"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"koordinator.sh/koord/decision/core/jobinsight"
)

// Runs is what is known of former runs, as the leader wrote it, for predictions in other places than the collector. It is read when somebody
// asks, and anew when it is older than the time between two writes. It is safe for concurrent use.
type Runs struct {
	reader    client.Reader
	namespace string
	clock     clock.PassiveClock

	// reading is held by the one that reads. Others use what was read before, if there is something.
	reading sync.Mutex
	mu      sync.Mutex
	// store that was read last, which nobody modifies; nil before.
	store *jobinsight.Store
	read  time.Time
}

// NewRuns are those in the ConfigMaps of a namespace, not read yet.
func NewRuns(reader client.Reader, namespace string, clock clock.PassiveClock) *Runs {
	return &Runs{reader: reader, namespace: namespace, clock: clock}
}

// Latest is what is known, which must not be modified. It is up to a minute old, or older while it is being read anew or cannot be.
func (r *Runs) Latest(ctx context.Context) (*jobinsight.Store, error) {
	store, fresh := r.known()
	if fresh {
		return store, nil
	}
	if store == nil {
		r.reading.Lock()
	} else if !r.reading.TryLock() {
		return store, nil
	}
	defer r.reading.Unlock()
	if store, fresh = r.known(); fresh { // somebody else has just read it
		return store, nil
	}
	latest, _, err := ReadStore(ctx, r.reader, r.namespace)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		r.store = latest
	} else if r.store == nil {
		return nil, err
	}
	r.read = r.clock.Now() // one that failed is tried again after a while, too
	return r.store, nil
}

func (r *Runs) known() (store *jobinsight.Store, fresh bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.store, r.store != nil && r.clock.Since(r.read) < saveInterval
}
