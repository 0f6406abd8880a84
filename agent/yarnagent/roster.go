package yarnagent

import (
	"errors"
	"slices"
	"sync"
	"time"
)

// roster is what the NodeManager said last of its containers. Its methods may be called at the same time, and wait for nothing.
type roster struct {
	mu sync.Mutex
	// tasks of the latest list, and when that was; adopted are those whose processes were found.
	tasks   []task
	listed  time.Time
	adopted map[string]bool
	// asked is when the NodeManager was asked last.
	asked time.Time
	// failure is why the NodeManager could not be listed since; nil when it could. reported is true where it was said.
	failure  error
	reported bool
}

// errNotListed is for a NodeManager that never answered.
var errNotListed = errors.New("the NodeManager was not listed yet")

// ask says that the NodeManager is being asked.
func (r *roster) ask(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = now
}

// fresh reports whether the NodeManager was asked less than listAge ago.
func (r *roster) fresh(now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	age := now.Sub(r.asked)
	return age >= 0 && age < listAge
}

// set takes a list, and reports whether it is the first one, or the first after a failure.
func (r *roster) set(tasks []task, now time.Time) (first bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	first = r.failure != nil || r.listed.IsZero()
	r.tasks, r.listed, r.failure, r.reported = tasks, now, nil, false
	return first
}

// fail keeps the list, because containers outlive their NodeManager. It reports whether to say so: once for all failures in a row, and not
// where the NodeManager had less time than it gets.
func (r *roster) fail(err error, cut bool) (report bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failure = err
	report = !cut && !r.reported
	r.reported = r.reported || report
	return report
}

// known are the containers of the latest list.
func (r *roster) known() []task {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.tasks)
}

// unadopted are those whose processes were not found yet.
func (r *roster) unadopted() []task {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.tasks), func(t task) bool { return r.adopted[t.ID] })
}

// adopt says for which of the containers that were looked for processes were found. Those that are listed no more are forgotten.
func (r *roster) adopt(looked, found map[string]bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	adopted := map[string]bool{}
	for i := range r.tasks {
		if id := r.tasks[i].ID; found[id] || r.adopted[id] && !looked[id] {
			adopted[id] = true
		}
	}
	r.adopted = adopted
}

// state is when the NodeManager was listed last, and why it could not be since. An error is returned where it never was.
func (r *roster) state() (listed time.Time, failure, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.listed.IsZero() {
		return time.Time{}, r.failure, errors.Join(errNotListed, r.failure)
	}
	return r.listed, r.failure, nil
}
