package enginerun

import (
	"strings"
	"testing"
	"time"

	"koordinator.sh/koord/decision/core/jobinsight"
)

func TestQueriesOfTrino(t *testing.T) {
	const session = `"session":{"user":"ana","source":"superset"},"resourceGroupId":["global","adhoc"],"query":"SELECT 1"`
	const stats = `"createTime":"2030-01-07T11:59:00.000Z","endTime":"2030-01-07T12:00:00.000Z","queuedTime":"20.00s","totalCpuTime":"1.50m",` +
		`"peakUserMemoryReservation":"1GB","peakTotalMemoryReservation":"1.5GB"`
	kind := jobinsight.Kind{User: "ana", Queue: "global.adhoc", Application: "superset", Shape: "trino/" + queryShape("select ?")}
	tests := map[string]struct {
		query     string
		wantRun   jobinsight.Run
		wantTrace Trace
	}{
		"one that finished": {`"state":"FINISHED",` + session + `,"queryStats":{` + stats + `}`,
			jobinsight.Run{Kind: kind, Outcome: jobinsight.Completed, Values: jobinsight.Observed(1.5*(1<<30), 90.0/40, 40*time.Second)}, Trace{}},
		"one that was out of memory": {`"state":"FAILED","errorType":"INSUFFICIENT_RESOURCES","errorCode":{"name":"EXCEEDED_LOCAL_MEMORY_LIMIT"},` + session + `,"queryStats":{` + stats + `}`,
			jobinsight.Run{Kind: kind, Outcome: jobinsight.OOMKilled, Values: jobinsight.Observed(1.5*(1<<30), 90.0/40, 40*time.Second)}, Trace{}},
		"one that its user ended": {`"state":"FAILED","errorType":"USER_ERROR","errorCode":{"name":"USER_CANCELED"},` + session + `,"queryStats":{` + stats + `}`,
			jobinsight.Run{Kind: kind, Outcome: jobinsight.Killed, Values: jobinsight.Observed(1.5*(1<<30), 90.0/40, 40*time.Second)}, Trace{}},
		"one that failed": {`"state":"FAILED","errorType":"USER_ERROR","errorCode":{"name":"DIVISION_BY_ZERO"},` + session + `,"queryStats":{` + stats + `}`,
			jobinsight.Run{Kind: kind, Outcome: jobinsight.Failed, Values: jobinsight.Observed(1.5*(1<<30), 90.0/40, 40*time.Second)}, Trace{}},
		"one without statistics": {`"state":"FINISHED",` + session, jobinsight.Run{}, Trace{LeftOut: "it is not said when it started and ended"}},
		"one whose statistics are garbage": {`"state":"FINISHED",` + session + `,"queryStats":{"createTime":"2030-01-07T11:59:00Z","endTime":"2030-01-07T12:00:00Z","totalCpuTime":"NaNs","peakUserMemoryReservation":"1e999GB"}`,
			jobinsight.Run{Kind: kind, Outcome: jobinsight.Completed, Values: jobinsight.Observed(0, 0, time.Minute)}, Trace{Unknown: []string{"memory", "cpu"}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			events, err := ParseTrino([]byte(`[{"queryId":"20300107_120000_00001_abcde",` + test.query + `},{"queryId":"q2","state":"RUNNING"}]`))
			if err != nil || len(events) != 1 {
				t.Fatalf("ParseTrino() = %+v, %v", events, err)
			}
			checkDecision(t, events[0], test.wantRun, test.wantTrace)
		})
	}
}

func TestAmountsOfTrino(t *testing.T) {
	for text, want := range map[string]float64{"1.50GB": 1.5 * (1 << 30), "123B": 123, "12kB": 12 << 10, "": 0, "GB": 0, "1XB": 0, "-1GB": 0, "InfGB": 0} {
		if got := dataSize(text); got != want {
			t.Errorf("dataSize(%q) = %g, want %g", text, got, want)
		}
	}
	for text, want := range map[string]time.Duration{"1.20s": 1200 * time.Millisecond, "2.50m": 150 * time.Second, "3.00d": 72 * time.Hour, "7.00ns": 7, "": 0, "1e300d": mostSeconds * time.Second} {
		if got := duration(text); got != want {
			t.Errorf("duration(%q) = %s, want %s", text, got, want)
		}
	}
}

// FuzzParseTrino: whatever a coordinator says, runs have values that can be learned.
func FuzzParseTrino(f *testing.F) {
	f.Add(`[{"queryId":"a","state":"FINISHED","query":"select 'x","queryStats":{"createTime":"2030-01-07T11:59:00Z","endTime":"2030-01-07T12:00:00Z","totalCpuTime":"1e308d"}}]`)
	f.Add(`null`)
	f.Fuzz(func(t *testing.T, answer string) {
		events, err := ParseTrino([]byte(answer))
		if err != nil && !strings.Contains(err.Error(), "read the queries") {
			t.Errorf("ParseTrino() = %v", err)
		}
		learnAll(t, events)
	})
}

// learnAll learns from events, and keeps what was learned.
func learnAll(t *testing.T, events []Event) {
	t.Helper()
	store := jobinsight.NewStore(0)
	for _, event := range events {
		if run, ok := Decide(event, jobinsight.SetOf(jobinsight.Pods), nil); ok && store.Take("engine/a", event.ID, event.Ended, time.Now()) {
			store.Observe(run)
		}
	}
	if _, loss := jobinsight.Decode(store.Encode(0), 0); loss.Any() {
		t.Errorf("lost %s", loss.String())
	}
}

// TestWhatACoordinatorTold is of a real one: two queries that differ by a literal, one that names no column, and one that divides by zero.
func TestWhatACoordinatorTold(t *testing.T) {
	events, err := ParseTrino(recorded(t, "trino-queries.json"))
	if err != nil || len(events) != 4 {
		t.Fatalf("ParseTrino() = %+v, %v", events, err)
	}
	shapes := map[jobinsight.Kind]int{}
	for _, event := range events {
		run, ok := Decide(event, jobinsight.SetOf(jobinsight.Pods), nil)
		shape := run.Kind.Shape
		if run.Kind.Shape = ""; !ok || run.Kind != (jobinsight.Kind{User: "ana", Queue: "global", Application: "superset"}) {
			t.Errorf("Decide(%s) = %+v, %v", event.ID, run, ok)
		}
		if run.Outcome != jobinsight.Completed {
			continue
		}
		shapes[jobinsight.Kind{Shape: shape}]++
		memory, cpu, duration := run.Values[jobinsight.Memory], run.Values[jobinsight.CPU], run.Values[jobinsight.Duration]
		if memory < 100_000 || memory > 120_000 || cpu < 0.3 || cpu > 2 || duration < 0.3 || duration > 4 {
			t.Errorf("%s used %g bytes, %g cores and %g s", event.ID, memory, cpu, duration)
		}
	}
	if len(shapes) != 1 {
		t.Errorf("queries that differ by a literal have shapes %v", shapes)
	}
}
