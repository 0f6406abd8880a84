package jobtrace

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/decision/core/jobinsight"
)

const gibibyte = 1 << 30

func TestReadCSV(t *testing.T) {
	got, err := ReadCSV(strings.NewReader(`application,user,queue,shape,submitted,started,ended,requested_memory,peak_memory,requested_cpu,used_cpu,outcome
daily,alice,analytics,driver,1893456000,1893456060,1893459660,4Gi,1.5Gi,2,750m,completed
daily,alice,analytics,executor,,2030-01-01T00:02:00Z,2030-01-01T00:12:00Z,,4294967296,,,OOM-killed
`))
	if err != nil {
		t.Fatal(err)
	}
	submitted := time.Date(2030, time.January, 1, 0, 0, 0, 0, time.UTC)
	first := jobinsight.Job{Submitted: submitted, Started: submitted.Add(time.Minute), Requested: jobinsight.Observed(4*gibibyte, 2, 0)}
	first.Run = jobinsight.Run{Kind: jobinsight.Kind{User: "alice", Queue: "analytics", Application: "daily", Shape: "driver"}, Outcome: jobinsight.Completed,
		Ended: submitted.Add(61 * time.Minute), Values: jobinsight.Observed(1.5*gibibyte, 0.75, time.Hour)}
	second := jobinsight.Job{Submitted: submitted.Add(2 * time.Minute), Started: submitted.Add(2 * time.Minute)}
	second.Run = first.Run
	second.Kind.Shape, second.Outcome, second.Ended, second.Values = "executor", jobinsight.OOMKilled, submitted.Add(12*time.Minute), jobinsight.Observed(4*gibibyte, 0, 10*time.Minute)
	if diff := cmp.Diff([]jobinsight.Job{first, second}, got); diff != "" {
		t.Errorf("jobs (-want +got):\n%s", diff)
	}
}

func TestReadSWF(t *testing.T) {
	got, err := ReadSWF(strings.NewReader(`; Version: 2.2
; UnixStartTime: 1893456000
  1 10 50 3600 8 1800 1048576 8 7200 2097152 1 7 3 12 2 1 -1 -1
  2 20 0 -1 -1 -1 -1 8 7200 -1 5 7 3 12 2 1 -1 -1
  3 30 0 60 4 -1 -1 -1 -1 -1 0 -1 -1 -1 -1 -1 -1 -1
  4 30 0 60 4 -1 -1 -1 -1 -1 3 -1 -1 -1 -1 -1 -1 -1
`))
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Date(2030, time.January, 1, 0, 0, 0, 0, time.UTC)
	first := jobinsight.Job{Submitted: begin.Add(10 * time.Second), Started: begin.Add(time.Minute), Requested: jobinsight.Observed(16*gibibyte, 8, 2*time.Hour)}
	first.Run = jobinsight.Run{Kind: jobinsight.Kind{User: "user-7", Queue: "queue-2", Application: "executable-12", Shape: "processors-8"}, Outcome: jobinsight.Completed,
		Ended: begin.Add(61 * time.Minute), Values: jobinsight.Observed(8*gibibyte, 4, time.Hour)}
	second := jobinsight.Job{Submitted: begin.Add(30 * time.Second), Started: begin.Add(30 * time.Second), Requested: jobinsight.Observed(0, 4, 0)}
	second.Run = jobinsight.Run{Outcome: jobinsight.Failed, Ended: begin.Add(90 * time.Second), Values: jobinsight.Observed(0, 0, time.Minute)}
	if diff := cmp.Diff([]jobinsight.Job{first, second}, got); diff != "" {
		t.Errorf("jobs (-want +got):\n%s", diff)
	}
}

func TestWhatCannotBeReadIsNamed(t *testing.T) {
	tests := map[string]struct{ file, content, wantError string }{
		"an unknown column":       {"a.csv", "started,ended,color\n", `line 1: column "color" is none of started`},
		"a column twice":          {"a.csv", "started,started\n", `column "started" is there twice`},
		"a column missing":        {"a.csv", "user,ended\n", `column "started" is missing`},
		"no time":                 {"a.csv", "started,ended\n1,soon\n", `line 2: column "ended": "soon" is neither`},
		"an end before its start": {"a.csv", "started,ended\n2,1\n", "line 2: it ended at 1, before it started at 2"},
		"a negative amount":       {"a.csv", "started,ended,peak_memory\n1,2,-4Gi\n", `column "peak_memory": "-4Gi" is not an amount`},
		"an unknown outcome":      {"a.csv", "started,ended,outcome\n1,2,fine\n", `"fine" is none of completed`},
		"fields missing":          {"a.csv", "started,ended\n1\n", "wrong number of fields"},
		"nothing":                 {"a.csv", "", "read its header"},
		"too few numbers":         {"a.swf", "; a comment\n1 2 3\n", "line 2: 3 fields, want 18"},
		"a word":                  {"a.swf", strings.Repeat("x ", 18), `field 1: "x" is not a number`},
		"a job of no time":        {"a.swf", "1 -1 0 5 1 -1 -1 1 -1 -1 1 1 1 1 1 1 1 1", "submission is not known"},
		"a line of a megabyte":    {"a.swf", strings.Repeat("1", 1<<20), "line 1: "},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), test.file)
			if err := os.WriteFile(path, []byte(test.content), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := Open(path)
			if err == nil || !strings.Contains(err.Error(), test.wantError) || !strings.Contains(err.Error(), path) {
				t.Errorf("error %v, want one that names the file and contains %q", err, test.wantError)
			}
		})
	}
	for _, path := range []string{t.TempDir(), filepath.Join(t.TempDir(), "absent.csv")} {
		if _, err := Open(path); err == nil {
			t.Errorf("%s was read", path)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("started,ended,peak_memory\n1,2,4Gi\n")
	f.Add("; UnixStartTime: 5\n1 10 50 3600 8 1800 1048576 8 7200 2097152 1 7 3 12 2 1 -1 -1\n")
	f.Fuzz(func(t *testing.T, text string) {
		csv, _ := ReadCSV(strings.NewReader(text))
		swf, _ := ReadSWF(strings.NewReader(text))
		for _, job := range append(csv, swf...) {
			if job.Ended.Before(job.Started) || math.IsNaN(job.Values[jobinsight.Memory]) || job.Values[jobinsight.CPU] < 0 {
				t.Errorf("%+v", job)
			}
		}
	})
}
