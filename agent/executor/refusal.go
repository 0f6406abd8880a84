package executor

import "time"

// refusal is a value that the kernel does not take.
type refusal struct {
	value string
	err   error
	// attempts in a row, and when the next one is due.
	attempts int
	next     time.Time
}

// record counts an attempt, of which err came.
func (r *refusal) record(value string, err error, now time.Time) {
	if r.value != value {
		r.attempts = 0
	}
	r.value, r.err = value, err
	r.attempts++
	wait := maxRetryInterval
	if doublings := r.attempts - 1; doublings < 5 {
		wait = min(time.Second<<doublings, maxRetryInterval)
	}
	if r.attempts == 1 {
		wait = 0 // it may have been refused for what is written later in the same round
	}
	r.next = now.Add(wait)
}

// recordRefusal notes what the kernel answered to a write.
func (h *managedFile) recordRefusal(value string, err error, now time.Time) {
	if err == nil {
		h.refusal = refusal{}
		return
	}
	h.refusal.record(value, err, now)
}

// backsOff reports whether an attempt is not due yet. One that lies further ahead than any was timed by a clock that was set back.
func (r *refusal) backsOff(value string, now time.Time) bool {
	ahead := r.next.Sub(now)
	return r.err != nil && r.value == value && ahead > 0 && ahead <= maxRetryInterval
}
