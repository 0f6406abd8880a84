package architecture

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	subsystemPattern = regexp.MustCompile(`subsystem\s+= "(\w+)"`)
	metricPattern    = regexp.MustCompile(`Subsystem: ("\w+"|subsystem),\s+Name: "(\w+)"`)
	labelsPattern    = regexp.MustCompile(`\}, \[\]string\{([^}]*)\}`)
	queriedPattern   = regexp.MustCompile(`\b(?:koord_)?descheduler_\w+`)
	selectorPattern  = regexp.MustCompile(`(\w+)(?:=~|!~|!=|=)"`)
	groupingPattern  = regexp.MustCompile(`by \(([^)]*)\)`)
)

// TestQueriesAskForMetricsThatAreServed: each metric and label in the queries of docs/descheduling.md is one of koord-descheduler.
func TestQueriesAskForMetricsThatAreServed(t *testing.T) {
	names, labels := deschedulerMetrics(t)
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "descheduling.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "\n### Queries for dashboards and alerts\n")
	if !found {
		t.Fatal("docs/descheduling.md has no section of queries")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	queried := queriedPattern.FindAllString(section, -1)
	if len(queried) < 10 {
		t.Fatalf("only %d metrics are queried", len(queried))
	}
	for _, name := range queried {
		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			name = strings.TrimSuffix(name, suffix)
		}
		if !slices.Contains(names, name) {
			t.Errorf("%s is queried and not served", name)
		}
	}
	for _, match := range slices.Concat(selectorPattern.FindAllStringSubmatch(section, -1), groupingPattern.FindAllStringSubmatch(section, -1)) {
		for label := range strings.SplitSeq(match[1], ",") {
			if label = strings.TrimSpace(label); label != "le" && !slices.Contains(labels, label) {
				t.Errorf("no metric has the label %q of the queries", label)
			}
		}
	}
}

// deschedulerMetrics are the metrics that koord-descheduler declares, and their labels.
func deschedulerMetrics(t *testing.T) (names, labels []string) {
	t.Helper()
	root := filepath.Join("..", "..", "descheduler")
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		subsystem := ""
		if match := subsystemPattern.FindSubmatch(source); match != nil {
			subsystem = string(match[1])
		}
		for _, match := range metricPattern.FindAllSubmatch(source, -1) {
			of := strings.Trim(string(match[1]), `"`)
			if of == "subsystem" {
				of = subsystem
			}
			names = append(names, of+"_"+string(match[2]))
		}
		for _, match := range labelsPattern.FindAllSubmatch(source, -1) {
			for label := range strings.SplitSeq(string(match[1]), ",") {
				labels = append(labels, strings.Trim(strings.TrimSpace(label), `"`))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names, labels
}
