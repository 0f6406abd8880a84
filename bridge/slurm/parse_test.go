package slurm

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/decision/noderesource/thirdparty"
)

func recorded(t testing.TB, name string) string {
	t.Helper()
	content, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

var unit = thirdparty.Amount{MilliCPU: millisPerCPU, Memory: 1000 * bytesPerMiB}

func TestNodesAsScontrolPrintsThem(t *testing.T) {
	var got []node
	for r := range records(recorded(t, "nodes.txt")) {
		n, err := parseNode(r)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, n)
	}
	want := []node{
		{name: "n1", cpus: 8, mib: 16000, usedCPUs: 4, usedMiB: 4000, partitions: []string{"batch-n1", "batch"}},
		{name: "n2", cpus: 8, mib: 16000, partitions: []string{"batch-n2", "batch"}},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(node{})); diff != "" {
		t.Errorf("parseNode() (-want +got):\n%s", diff)
	}
}

func TestParseNode(t *testing.T) {
	const size = " CPUTot=8 RealMemory=16000 CPUAlloc=1 AllocMem=10 "
	tests := map[string]struct {
		line       string
		wantClosed bool
		wantErr    string
	}{
		"idle":                          {line: "NodeName=n1" + size + "State=IDLE"},
		"power saving":                  {line: "NodeName=n1" + size + "State=IDLE~"},
		"not responding":                {line: "NodeName=n1" + size + "State=IDLE*"},
		"drained while jobs run":        {line: "NodeName=n1" + size + "State=MIXED+DRAIN", wantClosed: true},
		"down":                          {line: "NodeName=n1" + size + "State=DOWN*", wantClosed: true},
		"a reason that looks like keys": {line: "NodeName=n1" + size + "State=IDLE Reason=State=DOWN CPUTot=99999"},
		"a key that another ends with":  {line: "NodeName=n1 XCPUTot=1" + size + "State=IDLE"},
		"an expression as a name":       {line: "NodeName=n[1-9]" + size + "State=IDLE", wantErr: "NodeName is"},
		"an option as a name":           {line: "NodeName=--all" + size + "State=IDLE", wantErr: "NodeName is"},
		"no size":                       {line: "NodeName=n1 State=IDLE", wantErr: "want a number"},
		"a size that is huge":           {line: "NodeName=n1 CPUTot=9223372036854775807 RealMemory=1 CPUAlloc=1 AllocMem=1", wantErr: "CPUTot"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			n, err := parseNode(record(test.line))
			if test.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantErr) {
					t.Errorf("parseNode() = %v, want %q", err, test.wantErr)
				}
				return
			}
			if err != nil || n.closed != test.wantClosed || n.cpus != 8 {
				t.Errorf("parseNode() = %+v, %v; want closed %t and 8 CPUs", n, err, test.wantClosed)
			}
		})
	}
}

func TestPartitionsAsScontrolPrintsThem(t *testing.T) {
	var got []partition
	for r := range records(recorded(t, "partitions.txt")) {
		p, err := parsePartition(r)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, p)
	}
	want := []partition{
		{name: "batch-n1", nodes: "n1", cpusPerNode: 4, up: true},
		{name: "batch-n2", nodes: "n2", up: true},
		{name: "batch", nodes: "n[1-2]", cpusPerNode: -1},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(partition{})); diff != "" {
		t.Errorf("parsePartition() (-want +got):\n%s", diff)
	}
	if _, err := parsePartition("PartitionName=x MaxCPUsPerNode=-3"); err == nil {
		t.Error("parsePartition() takes a bound below zero")
	}
	if _, err := parsePartition("garbage"); err == nil {
		t.Error("parsePartition() takes what is no partition")
	}
}

func TestParseMemoryPerCPU(t *testing.T) {
	tests := map[string]struct {
		config string
		want   int64
	}{
		"both":                   {config: "ClusterName = x\nDefMemPerCPU            = 500\nMaxMemPerCPU            = 1000\n", want: 1000},
		"no bound":               {config: "DefMemPerCPU = 500\nMaxMemPerNode = UNLIMITED\n"},
		"jobs get all memory":    {config: "DefMemPerNode = UNLIMITED\nMaxMemPerCPU = 1000\n"},
		"more than there may be": {config: "DefMemPerCPU = 2000\nMaxMemPerCPU = 1000\n"},
		"nothing":                {},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got, err := parseMemoryPerCPU(test.config); got != test.want || (err != nil) != (test.want == 0) {
				t.Errorf("parseMemoryPerCPU() = %d, %v; want %d", got, err, test.want)
			}
		})
	}
}

func TestJobsAsSqueuePrintsThem(t *testing.T) {
	works, ending, err := parseJobs(recorded(t, "running.txt")+"7|CG|2|1|1:00\n8|R|64|16|1-00:00:01\n", unit)
	if err != nil || ending != 2 {
		t.Fatalf("parseJobs() = %d CPUs of ending jobs, %v", ending, err)
	}
	want := []thirdparty.Work{
		{ID: "1", Held: times(unit, 1), All: times(unit, 1)},
		{ID: "2", Held: times(unit, 3), All: times(unit, 3)},
		{ID: "8", Held: times(unit, 4), All: times(unit, 64), Ran: 24*time.Hour + time.Second},
	}
	for i := range works[:2] {
		if works[i].Ran > time.Minute {
			t.Errorf("job %s has run for %v", works[i].ID, works[i].Ran)
		}
		works[i].Ran = 0
	}
	if diff := cmp.Diff(want, works); diff != "" {
		t.Errorf("parseJobs() (-want +got):\n%s", diff)
	}
}

func TestParseElapsed(t *testing.T) {
	tests := map[string]struct {
		want    time.Duration
		wantErr bool
	}{
		"0:02":       {want: 2 * time.Second},
		"59:01":      {want: 59*time.Minute + time.Second},
		"2:00:03":    {want: 2*time.Hour + 3*time.Second},
		"3-02:00:03": {want: 74*time.Hour + 3*time.Second},
		"INVALID":    {},
		"1:2:3:4":    {wantErr: true},
		"-1:00":      {wantErr: true},
		"":           {wantErr: true},
	}
	for text, test := range tests {
		t.Run(text, func(t *testing.T) {
			if got, err := parseElapsed(text); got != test.want || (err != nil) != test.wantErr {
				t.Errorf("parseElapsed() = %v, %v; want %v", got, err, test.want)
			}
		})
	}
}

func TestAnyWaits(t *testing.T) {
	tests := map[string]struct {
		queue string
		want  bool
	}{
		"as recorded":                       {queue: recorded(t, "pending.txt"), want: true},
		"several partitions":                {queue: "batch,batch-n1,batch-n2|Priority\n", want: true},
		"a reason with the nodes":           {queue: "batch-n1|ReqNodeNotAvail, UnavailableNodes:n1\n", want: true},
		"for what resources do not end":     {queue: "batch-n1|Dependency\nbatch-n1|JobHeldUser\n"},
		"for partitions that are not these": {queue: "other|Resources\n"},
		"nobody":                            {},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			ours := func(partition string) bool { return partition == "batch-n1" }
			if got := anyWaits(test.queue, ours); got != test.want {
				t.Errorf("anyWaits() = %t, want %t", got, test.want)
			}
		})
	}
}

// FuzzOutput: whatever programs print, amounts stay within bounds, and nothing panics.
func FuzzOutput(f *testing.F) {
	for _, file := range []string{"nodes.txt", "partitions.txt", "running.txt", "pending.txt"} {
		f.Add(recorded(f, file))
	}
	f.Fuzz(func(t *testing.T, output string) {
		for r := range records(output) {
			if n, err := parseNode(r); err == nil && (n.cpus < 0 || n.mib > mostNumber || !nodeNames.MatchString(n.name)) {
				t.Errorf("parseNode(%q) = %+v", r, n)
			}
			if p, err := parsePartition(r); err == nil && p.cpusPerNode < -1 {
				t.Errorf("parsePartition(%q) = %+v", r, p)
			}
		}
		works, ending, _ := parseJobs(output, unit)
		for _, work := range works {
			if work.Held.MilliCPU <= 0 || work.Held.MilliCPU > work.All.MilliCPU || work.Ran < 0 {
				t.Errorf("parseJobs() has %+v", work)
			}
		}
		if per, err := parseMemoryPerCPU(output); ending < 0 || err == nil && per <= 0 {
			t.Errorf("%d CPUs are ending, and a CPU has %d MiB", ending, per)
		}
		anyWaits(output, func(string) bool { return true })
	})
}
