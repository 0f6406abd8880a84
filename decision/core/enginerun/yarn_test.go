package enginerun

import (
	"strings"
	"testing"
	"time"

	"koordinator.sh/koord/decision/core/jobinsight"
)

// TestWhatAResourceManagerTold is of a real one: a master and two containers of 256 MiB and a vcore each.
func TestWhatAResourceManagerTold(t *testing.T) {
	events, err := ParseYARN(recorded(t, "yarn-apps.json"))
	if err != nil || len(events) != 1 {
		t.Fatalf("ParseYARN() = %+v, %v", events, err)
	}
	run, ok := Decide(events[0], jobinsight.SetOf(jobinsight.Pods), nil)
	memory, cpu, duration := run.Values[jobinsight.Memory]/bytesPerMiB, run.Values[jobinsight.CPU], run.Values[jobinsight.Duration]
	if !ok || run.Outcome != jobinsight.Completed || run.Source != jobinsight.YARN || memory < 256 || memory > 768 || cpu < 1 || cpu > 3 || duration < 3 || duration > 60 {
		t.Errorf("Decide() = %+v, %v", run, ok)
	}
	if want := (jobinsight.Kind{User: "root", Queue: "root.default", Application: "job", Shape: "yarn/YARN"}); run.Kind != want {
		t.Errorf("the kind is %+v, want %+v", run.Kind, want)
	}
}

func TestApplicationsOfYARN(t *testing.T) {
	const times = `"launchTime":11000,"startedTime":1000,"finishedTime":31000`
	tests := map[string]struct {
		application string
		wantRun     jobinsight.Run
		wantTrace   Trace
	}{
		"one that succeeded": {`"user":"etl","queue":"root.batch","name":"report 2030-01-07","applicationType":"SPARK","state":"FINISHED","finalStatus":"SUCCEEDED",` + times + `,"memorySeconds":40960,"vcoreSeconds":40`,
			jobinsight.Run{Kind: jobinsight.Kind{User: "etl", Queue: "root.batch", Application: "report *", Shape: "yarn/SPARK"}, Outcome: jobinsight.Completed,
				Values: jobinsight.Observed(2<<30, 2, 20*time.Second)}, Trace{}},
		"one of which an older one does not say when it was launched": {`"name":"x","state":"FAILED","finalStatus":"FAILED","startedTime":1000,"finishedTime":31000`,
			jobinsight.Run{Kind: jobinsight.Kind{Application: "x", Shape: "yarn/YARN"}, Outcome: jobinsight.Failed, Values: jobinsight.Observed(0, 0, 30*time.Second)},
			Trace{Unknown: []string{"memory", "cpu"}}},
		"one that was killed": {`"name":"x","state":"KILLED","finalStatus":"KILLED",` + times,
			jobinsight.Run{Kind: jobinsight.Kind{Application: "x", Shape: "yarn/YARN"}, Outcome: jobinsight.Killed, Values: jobinsight.Observed(0, 0, 20*time.Second)},
			Trace{Unknown: []string{"memory", "cpu"}}},
		"one that does not say how it ended": {`"name":"x","state":"FINISHED","finalStatus":"UNDEFINED",` + times, jobinsight.Run{}, Trace{LeftOut: "it is not said how it ended"}},
		"one without a name":                 {`"state":"FINISHED","finalStatus":"SUCCEEDED",` + times, jobinsight.Run{}, Trace{LeftOut: "it has no name"}},
		"one that ended before it started":   {`"name":"x","state":"FINISHED","finalStatus":"SUCCEEDED","startedTime":9000,"finishedTime":1000`, jobinsight.Run{}, Trace{LeftOut: "it ended before it started"}},
		"one that never started":             {`"name":"x","state":"KILLED","finalStatus":"KILLED","finishedTime":1000`, jobinsight.Run{}, Trace{LeftOut: "it is not said when it started and ended"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			events, err := ParseYARN([]byte(`{"apps":{"app":[{"id":"application_1_0001",` + test.application + `}]}}`))
			if err != nil || len(events) != 1 {
				t.Fatalf("ParseYARN() = %+v, %v", events, err)
			}
			checkDecision(t, events[0], test.wantRun, test.wantTrace)
		})
	}
}

// TestNamesOfRunsBecomeTheSame where they differ by dates and long numbers, and only there.
func TestNamesOfRunsBecomeTheSame(t *testing.T) {
	for name, want := range map[string]string{
		"report 2030-01-07":                    "report *",
		"report_20300107":                      "report_*",
		"report 2030-01-07T01:02:03 of stage3": "report * of stage3",
		"INSERT OVERWRITE t(Stage-1)":          "INSERT OVERWRITE t(Stage-1)",
		"job_1700000000000_0012":               "job_*_0012",
		"tpcds-q42":                            "tpcds-q42",
	} {
		if got := recurring(name); got != want {
			t.Errorf("%q becomes %q, want %q", name, got, want)
		}
	}
}

// FuzzParseYARN: whatever a ResourceManager says, runs have values that can be learned.
func FuzzParseYARN(f *testing.F) {
	f.Add(`{"apps":{"app":[{"id":"a","name":"x","finalStatus":"SUCCEEDED","startedTime":1,"finishedTime":9223372036854775807,"memorySeconds":1e308}]}}`)
	f.Add(`{"apps":null}`)
	f.Add(`{"apps":{"app":[{"startedTime":-1,"finishedTime":1}]}}`)
	f.Fuzz(func(t *testing.T, answer string) {
		events, err := ParseYARN([]byte(answer))
		if err != nil && !strings.Contains(err.Error(), "read the applications") {
			t.Errorf("ParseYARN() = %v", err)
		}
		learnAll(t, events)
	})
}
