package enginerun

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/decision/core/jobinsight"
)

// checkDecision compares the run of an event, but for its source and its end, and what is left out.
func checkDecision(t *testing.T, event Event, wantRun jobinsight.Run, wantTrace Trace) {
	t.Helper()
	var trace Trace
	run, ok := Decide(event, jobinsight.SetOf(jobinsight.Pods), &trace)
	if ok != (wantTrace.LeftOut == "") {
		t.Errorf("Decide() = %v", ok)
	}
	if ok {
		wantRun.Source, wantRun.Ended = event.Source, event.Ended
	}
	if diff := cmp.Diff(wantRun, run) + cmp.Diff(wantTrace, trace); diff != "" {
		t.Errorf("Decide() (-want +got):\n%s", diff)
	}
}
