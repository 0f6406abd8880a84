package kubectlplugin

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// recordings of the sandbox's own reader's tests: one service and a table of machines.
const recordings = "../agent/host/trace/testdata/mixed"

func TestPredictReplayPrints(t *testing.T) {
	lines := map[string]string{
		"predict-replay":             "predict replay -f " + recordings,
		"predict-replay-json":        "predict replay -f " + recordings + "/checkout.csv --profile koordinator -o json",
		"predict-replay-nothing":     "predict replay",
		"predict-replay-profile":     "predict replay -f " + recordings + " --profile best",
		"predict-replay-no-file":     "predict replay -f absent.csv",
		"predict-replay-too-short":   "predict replay -f " + recordings + "/machines.csv --warm-up 1000h",
		"predict-replay-bad-horizon": "predict replay -f " + recordings + " --horizon 0s",
		"predict-alone":              "predict",

		"predict-jobs":              "predict replay-jobs --synthetic",
		"predict-jobs-confident":    "predict replay-jobs --synthetic --confidence 0.98 --kinds 0",
		"predict-jobs-json":         "predict replay-jobs -f testdata/jobs.csv --warm-up 24h --kinds 1 -o json",
		"predict-jobs-csv":          "predict replay-jobs -f testdata/jobs.csv --warm-up 24h",
		"predict-jobs-swf":          "predict replay-jobs -f testdata/jobs.swf --warm-up 1h",
		"predict-jobs-wrong":        "predict replay-jobs -f testdata/quotas.yaml",
		"predict-jobs-nothing":      "predict replay-jobs",
		"predict-jobs-too-short":    "predict replay-jobs -f testdata/jobs.csv",
		"predict-jobs-no-share":     "predict replay-jobs --synthetic --confidence 90",
		"predict-jobs-no-such-file": "predict replay-jobs -f absent.swf",
	}
	for name, line := range lines {
		t.Run(name, func(t *testing.T) {
			golden(t, name, line, run(t, cluster(), line))
		})
	}
}

func TestReplayOfALoadThatNeverChangesIsExact(t *testing.T) {
	var rows strings.Builder
	rows.WriteString("interval,a,b\n")
	for i := range 288 {
		fmt.Fprintf(&rows, "%d,20,40\n", i)
	}
	file := filepath.Join(t.TempDir(), "flat.csv")
	if err := os.WriteFile(file, []byte(rows.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	got := run(t, cluster(), "predict replay --profile n-sigma --profile static -o json -f "+file)
	var list struct {
		Nodes int
		Items []struct {
			Points, Violations     int
			Savings, OracleSavings float64
			Metadata               struct{ Name string }
		}
	}
	if err := json.Unmarshal([]byte(got.stdout), &list); err != nil {
		t.Fatalf("%v in %q, %s", err, got.stdout, got.stderr)
	}
	if list.Nodes != 1 || len(list.Items) != 2 {
		t.Fatalf("%d nodes and %d scores, want 1 and 2", list.Nodes, len(list.Items))
	}
	for i, wantSavings := range []float64{0.7, 0.1} {
		item := list.Items[i]
		if item.Points != 22 || item.Violations != 0 || item.Savings < wantSavings-1e-9 || item.Savings > wantSavings+1e-9 || item.OracleSavings < 0.699 {
			t.Errorf("%s: %+v, want 22 points without a violation and savings of %g", item.Metadata.Name, item, wantSavings)
		}
	}
}

func TestStepsBetweenRecordedValues(t *testing.T) {
	write := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	fine := "ts,value\n"
	for i := range 16 { // every 15 seconds, four values a minute: 0 1 2 3, 4 5 6 7, ...
		fine += fmt.Sprintf("%d,%d\n", 1700000000+15*i, i)
	}
	got := run(t, cluster(), "predict replay --warm-up 1m --horizon 1m --every 1m --profile aggressive -o jsonpath={.items[0].points} -f "+write("fine.csv", fine))
	if got.stdout != "3" {
		t.Errorf("%s predictions on four minutes, want 3: %s", got.stdout, got.stderr)
	}
}
