package yarn_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"koordinator.sh/koord/bridge/yarn"
	"koordinator.sh/koord/controllers/jobinsight/engines"
	"koordinator.sh/koord/decision/core/enginerun"
	"koordinator.sh/koord/decision/core/jobinsight"
	enginestest "koordinator.sh/koord/test/engines"
	realyarn "koordinator.sh/koord/test/engines/yarn"
)

// TestTheRealResourceManagerTellsOfApplications that ended: what koord-manager learns of one.
func TestTheRealResourceManagerTellsOfApplications(t *testing.T) {
	enginestest.Require(t, "java", "javac", "mvn")
	cluster := realyarn.Start(t)
	cluster.StartNodeManager(t, yarn.Resource{VCores: 4, MiB: 4096})
	before := time.Now()
	if got := cluster.Submit(t, 2, 256, "sleep 3").Summary(t); !strings.Contains(got, "SUCCEEDED") {
		t.Fatalf("the application ended with %q", got)
	}
	read, err := engines.Parse([]string{"yarn/real=http://" + cluster.Web})
	if err != nil {
		t.Fatal(err)
	}
	events, err := read[0].Read(t.Context(), before)
	if err != nil || len(events) != 1 {
		t.Fatalf("Read() = %+v, %v; want one application", events, err)
	}
	recordApplications(t, cluster)
	var trace enginerun.Trace
	run, ok := enginerun.Decide(events[0], jobinsight.SetOf(jobinsight.Pods), &trace)
	wantKind := jobinsight.Kind{User: "root", Queue: "root.default", Application: "job", Shape: "yarn/YARN"}
	if run.Kind.Queue == "default" { // before Hadoop 3.3
		wantKind.Queue = "default"
	}
	if !ok || run.Kind != wantKind || run.Outcome != jobinsight.Completed || run.Source != jobinsight.YARN || len(trace.Unknown) > 0 {
		t.Fatalf("Decide() = %+v, %v, %+v", run, ok, trace)
	}
	// A master of 256 MiB, and two containers of 256 MiB for some of the time.
	memory, cpu, duration := run.Values[jobinsight.Memory]/(1<<20), run.Values[jobinsight.CPU], run.Values[jobinsight.Duration]
	if memory < 256 || memory > 768 || cpu < 1 || cpu > 3 || duration < 3 || duration > time.Since(before).Seconds() {
		t.Errorf("%g MiB, %g cores and %g s", memory, cpu, duration)
	}
	if again, err := read[0].Read(t.Context(), time.Now().Add(time.Hour)); err != nil || len(again) != 0 {
		t.Errorf("Read() of what ended later = %+v, %v", again, err)
	}
}

// recordApplications writes what the ResourceManager answers, for the tests of decision/core/enginerun.
func recordApplications(t *testing.T, cluster *realyarn.Cluster) {
	if !*update {
		return
	}
	response, err := http.Get("http://" + cluster.Web + "/ws/v1/cluster/apps") //nolint:noctx // only to record
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }() // it was only read
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("..", "..", "..", "decision", "core", "enginerun", "testdata", "yarn-apps.json"), content, 0o600); err != nil {
		t.Fatal(err)
	}
}
