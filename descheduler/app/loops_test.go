package app

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/client-go/tools/events"

	"koordinator.sh/koord/decision/descheduling/loopguard"
)

func TestWorkloadsThatGoInCirclesAreReportedOnce(t *testing.T) {
	recorder := events.NewFakeRecorder(10)
	r, err := newLoopReporter(recorder, prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	loops := loopguard.Detect(loopguard.History{Now: at, Window: 2 * time.Hour, Moves: []loopguard.Move{
		{Workload: "Deployment/web/uid", Pod: "shop/web-1", From: "a", To: "b", At: at.Add(-time.Hour)},
		{Workload: "Deployment/web/uid", Pod: "shop/web-2", From: "b", To: "a", At: at.Add(-time.Minute)},
	}})
	frequent := loopguard.Detect(loopguard.History{Now: at, Window: 2 * time.Hour, MaxMoves: 1, Moves: []loopguard.Move{
		{Workload: "Deployment/db/uid", Pod: "shop/db-1", From: "a", To: "b", At: at.Add(-time.Hour)},
		{Workload: "Deployment/db/uid", Pod: "shop/db-2", From: "c", To: "d", At: at.Add(-time.Minute)},
	}})
	reported := func() []string {
		var out []string
		for len(recorder.Events) > 0 {
			out = append(out, <-recorder.Events)
		}
		return out
	}
	const want = "Warning MigrationStopped KOORD1501 Deployment/web/uid left node a and was moved back to it from b 59m0s later; it is not moved until 2026-03-04T13:00:00Z"
	const wantToo = "Warning MigrationStopped KOORD1502 2 pods of Deployment/db/uid, which has 1, were moved or evicted within 2h0m0s; at most 1 are allowed; it is not moved until 2026-03-04T13:00:00Z"
	for _, step := range []struct {
		by           finder
		loops        []loopguard.Loop
		wantEvent    []string
		wantCircles  string
		wantFrequent string
	}{
		{everyPlugin, loops, []string{want}, "1", "0"},
		{everyPlugin, loops, nil, "1", "0"},
		{planner, loops, nil, "1", "0"},
		{planner, append(frequent, loops...), []string{wantToo}, "1", "1"},
		{everyPlugin, nil, nil, "1", "1"},
		{planner, nil, nil, "0", "0"},
		{everyPlugin, loops, []string{want}, "1", "0"},
	} {
		r.from(step.by)(t.Context(), step.loops)
		if diff := cmp.Diff(step.wantEvent, reported()); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
		metrics := `
# HELP descheduler_stopped_workloads Workloads that the last pass did not move: KOORD1501 for those that go in circles, KOORD1502 for those that LoadAwareRebalancing moved too often.
# TYPE descheduler_stopped_workloads gauge
descheduler_stopped_workloads{code="KOORD1501"} ` + step.wantCircles + `
descheduler_stopped_workloads{code="KOORD1502"} ` + step.wantFrequent + `
`
		if err := testutil.CollectAndCompare(r.gauge, strings.NewReader(metrics)); err != nil {
			t.Error(err)
		}
	}
}
