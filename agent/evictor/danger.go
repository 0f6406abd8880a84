package evictor

import (
	"time"

	"koordinator.sh/koord/decision/nodeqos/eviction"
)

// danger counts readings in a row of a node in danger.
type danger struct {
	readings int
	latest   time.Time
}

// observe takes a reading and returns the count including it. The count restarts when a reading was missed or the clock was set.
func (d *danger) observe(reading Reading, node eviction.Node) int {
	before, since := d.readings, reading.Now.Sub(d.latest)
	d.readings, d.latest = 0, reading.Now
	if node.At.IsZero() || !eviction.InDanger(node.Capacity, node.Used) {
		return 0
	}
	if d.readings = 1; since > 0 && since <= 2*reading.Period {
		d.readings = min(before+1, eviction.DangerReadings)
	}
	return d.readings
}
