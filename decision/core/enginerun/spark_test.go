package enginerun

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/decision/core/jobinsight"
)

func recorded(t *testing.T, name string) []byte {
	t.Helper()
	answer, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// TestWhatAHistoryServerTold is of a real one of Spark 4.0.1: an application of four tasks in one process.
func TestWhatAHistoryServerTold(t *testing.T) {
	attempts, err := ParseSpark(recorded(t, "spark-applications.json"))
	if err != nil || len(attempts) != 1 {
		t.Fatalf("ParseSpark() = %+v, %v", attempts, err)
	}
	event, err := attempts[0].Event(SparkDetails{recorded(t, "spark-environment.json"), recorded(t, "spark-executors.json"), recorded(t, "spark-stages.json")})
	if err != nil {
		t.Fatal(err)
	}
	run, ok := Decide(event, jobinsight.SetOf(jobinsight.Pods, jobinsight.Spark), nil)
	want := jobinsight.Run{Kind: jobinsight.Kind{User: "root", Application: "words *", Shape: "spark/application"}, Outcome: jobinsight.Completed,
		Ended: event.Ended, Source: jobinsight.Spark, Values: jobinsight.Observed(277381120, (0.396858539+0.064324737)/14.529, 14529*time.Millisecond)}
	if diff := cmp.Diff(want, run); diff != "" || !ok {
		t.Errorf("Decide() = %v (-want +got):\n%s", ok, diff)
	}
}

// TestARunCountsOnce where several sources tell of it: as the one that knows most.
func TestARunCountsOnce(t *testing.T) {
	pods, all := jobinsight.SetOf(jobinsight.Pods, jobinsight.YARN), jobinsight.SetOf(jobinsight.Pods, jobinsight.YARN, jobinsight.Spark)
	onYARN, err := ParseYARN([]byte(`{"apps":{"app":[{"id":"a","name":"x","applicationType":"SPARK","finalStatus":"SUCCEEDED","startedTime":1,"finishedTime":9}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	of := func(master string) Event {
		attempt := SparkAttempt{Application: "a", Name: "x", Started: time.UnixMilli(1), Ended: time.UnixMilli(9)}
		event, err := attempt.Event(SparkDetails{Environment: []byte(`{"sparkProperties":[["spark.master","` + master + `"]]}`)})
		if err != nil {
			t.Fatal(err)
		}
		return event
	}
	tests := map[string]struct {
		event       Event
		read        jobinsight.Sources
		wantLeftOut string
	}{
		"Spark on YARN, of YARN, which alone is read":   {onYARN[0], pods, ""},
		"Spark on YARN, of YARN":                        {onYARN[0], all, "spark tell more of it"},
		"Spark on YARN, of the history server":          {of("yarn"), all, ""},
		"Spark on Kubernetes, of the history server":    {of("k8s://https://kubernetes.default"), all, "pods tell more of it"},
		"Spark on its own servers, of a history server": {of("spark://master:7077"), all, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var trace Trace
			if _, ok := Decide(test.event, test.read, &trace); ok != (test.wantLeftOut == "") || trace.LeftOut != test.wantLeftOut {
				t.Errorf("Decide() = %v, %q; want %q", ok, trace.LeftOut, test.wantLeftOut)
			}
		})
	}
}

func TestTheMemoryOfSparkIsOfTheLargestExecutor(t *testing.T) {
	tests := map[string]struct {
		answer string
		want   float64
	}{
		"of processes":           {`[{"id":"driver","peakMemoryMetrics":{"JVMHeapMemory":900}},{"id":"1","peakMemoryMetrics":{"JVMHeapMemory":50,"ProcessTreeJVMRSSMemory":100,"ProcessTreePythonRSSMemory":20}},{"id":"2"}]`, 120},
		"of the JVM":             {`[{"id":"1","peakMemoryMetrics":{"JVMHeapMemory":50,"JVMOffHeapMemory":5}},{"id":"2","peakMemoryMetrics":{"JVMHeapMemory":70}}]`, 70},
		"of the driver alone":    {`[{"id":"driver","peakMemoryMetrics":{"JVMHeapMemory":50}}]`, 50},
		"of nobody":              {`[{"id":"1"}]`, 0},
		"that is not said":       {``, 0},
		"of none that are known": {`[]`, 0},
	}
	for name, test := range tests {
		if got, err := sparkMemory([]byte(test.answer)); got != test.want || err != nil {
			t.Errorf("%s: %g, %v; want %g", name, got, err, test.want)
		}
	}
}

// FuzzParseSpark: whatever a history server says, runs have values that can be learned.
func FuzzParseSpark(f *testing.F) {
	f.Add(`[{"id":"a","name":"x","attempts":[{"completed":true,"startTimeEpoch":1,"endTimeEpoch":9223372036854775807}]}]`, `{"sparkProperties":[["spark.master"]]}`, `[{"peakMemoryMetrics":{"JVMHeapMemory":1e308}}]`, `[{"executorCpuTime":-1}]`)
	f.Fuzz(func(t *testing.T, answer, environment, executors, stages string) {
		attempts, err := ParseSpark([]byte(answer))
		if err != nil && !strings.Contains(err.Error(), "read the applications") {
			t.Errorf("ParseSpark() = %v", err)
		}
		events := make([]Event, 0, len(attempts))
		for i := range attempts {
			event, _ := attempts[i].Event(SparkDetails{[]byte(environment), []byte(executors), []byte(stages)}) // without what cannot be read
			events = append(events, event)
		}
		learnAll(t, events)
	})
}
