package fleet

import (
	"testing"

	testclock "k8s.io/utils/clock/testing"
)

// TestAFleetThatNeverReportsEnds: that nothing goes on behind it is checked after all tests.
func TestAFleetThatNeverReportsEnds(t *testing.T) {
	api := newAPIServer(t)
	api.stop()
	running(t, Options{RESTConfig: api.config(), Clock: testclock.NewFakeClock(noon)})
	api.start() // so that the cleanup has something to stop
}
