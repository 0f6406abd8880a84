package koordlet

import (
	"context"
	"time"

	"k8s.io/klog/v2"
)

// tellEvery is the shortest time between two lines of the log about one thing that fails now and then.
const tellEvery = time.Minute

// complaint is a failure that is logged when it begins or changes, and not more than once a minute however often that is.
type complaint struct {
	// last is what was logged last, empty once it is over, and told when that was.
	last string
	told time.Time
}

// news reports whether to log what is wrong; nil is that nothing is.
func (c *complaint) news(err error, now time.Time) bool {
	if err == nil {
		c.last = ""
		return false
	}
	what, age := err.Error(), now.Sub(c.told)
	if c.last == what || !c.told.IsZero() && age >= 0 && age < tellEvery {
		return false
	}
	c.last, c.told = what, now
	return true
}

// tell logs what is wrong when that is news; nothing while the context has ended.
func (c *complaint) tell(ctx context.Context, err error, now time.Time, message string, details ...any) {
	if ctx.Err() == nil && c.news(err, now) {
		klog.FromContext(ctx).Error(err, message, details...)
	}
}
