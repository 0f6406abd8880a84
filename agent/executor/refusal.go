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

// note counts an attempt, of which err came.
func (r *refusal) note(value string, err error, now time.Time) {
	if r.value != value {
		r.attempts = 0
	}
	r.value, r.err = value, err
	r.attempts++
	wait := retryMost
	if doublings := r.attempts - 1; doublings < 5 {
		wait = min(time.Second<<doublings, retryMost)
	}
	if r.attempts == 1 {
		wait = 0 // it may have been refused for what is written later in the same round
	}
	r.next = now.Add(wait)
}

// refuse notes what the kernel answered to a write.
func (h *holding) refuse(value string, err error, now time.Time) {
	if err == nil {
		h.refusal = refusal{}
		return
	}
	h.refusal.note(value, err, now)
}

// waits tells whether an attempt is not due yet. One that lies further ahead than any was timed by a clock that was set back.
func (r *refusal) waits(value string, now time.Time) bool {
	ahead := r.next.Sub(now)
	return r.err != nil && r.value == value && ahead > 0 && ahead <= retryMost
}
