package koordlet

import (
	"context"
	"time"

	"k8s.io/klog/v2"
)

// logInterval is the shortest time between two lines of the log about one thing that fails now and then.
const logInterval = time.Minute

// errorLog is a failure that is logged when it begins or changes, and not more than once a minute however often that is.
type errorLog struct {
	// lastLogged is what was logged last, empty once it is over, and loggedAt when that was.
	lastLogged string
	loggedAt   time.Time
}

// shouldLog reports whether to log what is wrong; nil is that nothing is.
func (c *errorLog) shouldLog(err error, now time.Time) bool {
	if err == nil {
		c.lastLogged = ""
		return false
	}
	what, age := err.Error(), now.Sub(c.loggedAt)
	if c.lastLogged == what || !c.loggedAt.IsZero() && age >= 0 && age < logInterval {
		return false
	}
	c.lastLogged, c.loggedAt = what, now
	return true
}

// Report logs what is wrong when that is news; nothing while the context has ended.
func (c *errorLog) Report(ctx context.Context, err error, now time.Time, message string, details ...any) {
	if ctx.Err() == nil && c.shouldLog(err, now) {
		klog.FromContext(ctx).Error(err, message, details...)
	}
}
