package schedulerperf

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// measured is what this package wants of an entry of the file; scheduler_perf checks the rest.
type measured struct {
	Name                string   `json:"name"`
	Labels              []string `json:"labels"`
	SchedulerConfigPath string   `json:"schedulerConfigPath"`
	Workloads           []struct {
		Name      string   `json:"name"`
		Labels    []string `json:"labels"`
		Threshold float64  `json:"threshold"`
	} `json:"workloads"`
}

// profile is the configuration that koord-scheduler is shipped with.
const profile = "../../scheduler/app/default.yaml"

// unmet returns the entries whose slowdown would go unnoticed, and why.
func unmet(entries []measured) []string {
	var problems []string
	for _, entry := range entries {
		if !slices.Contains(entry.Labels, "performance") {
			problems = append(problems, entry.Name+" is never run: it has no label performance")
		}
		if entry.SchedulerConfigPath != profile {
			problems = append(problems, entry.Name+" does not run the shipped profile")
		}
		short := 0
		for _, workload := range entry.Workloads {
			if workload.Threshold <= 0 {
				problems = append(problems, fmt.Sprintf("%s/%s has no threshold", entry.Name, workload.Name))
			}
			if slices.Contains(workload.Labels, "short") {
				short++
			}
		}
		if short == 0 || short == len(entry.Workloads) {
			problems = append(problems, entry.Name+" needs a short workload and one that is not")
		}
	}
	return problems
}

func TestEveryWorkloadKeepsAThreshold(t *testing.T) {
	text, err := os.ReadFile(workloads)
	if err != nil {
		t.Fatal(err)
	}
	var entries []measured
	if err := yaml.Unmarshal(text, &entries); err != nil {
		t.Fatal(err)
	}
	for _, problem := range unmet(entries) {
		t.Error(problem)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name)
	}
	want := []string{"Basic", "Batch", "Gang", "Quota", "LoadAware", "CPUSet", "Reservation", "Device"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("workloads (-want +got):\n%s", diff)
	}
}

func TestUnkeptWorkloadsAreFound(t *testing.T) {
	tests := map[string]struct {
		entry string
		want  []string
	}{
		"all that is right": {
			`[{name: A, labels: [performance], schedulerConfigPath: ../../scheduler/app/default.yaml, workloads: [{name: s, labels: [short], threshold: 1}, {name: l, threshold: 2}]}]`,
			nil,
		},
		"a workload without a threshold": {
			`[{name: A, labels: [performance], schedulerConfigPath: ../../scheduler/app/default.yaml, workloads: [{name: s, labels: [short], threshold: 1}, {name: l}]}]`,
			[]string{"A/l has no threshold"},
		},
		"another profile, no label, nothing short": {
			`[{name: A, workloads: [{name: l, threshold: 1}]}]`,
			[]string{
				"A is never run: it has no label performance", "A does not run the shipped profile", "A needs a short workload and one that is not",
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var entries []measured
			if err := yaml.Unmarshal([]byte(test.entry), &entries); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, unmet(entries)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHotNodesAreSpread(t *testing.T) {
	for _, wantHot := range []int{0, 10, 30, 70, 90} {
		r, hot := &reporter{hot: wantHot}, 0
		for i := range 100 {
			if r.isHot(i) {
				hot++
			}
		}
		if hot != wantHot {
			t.Errorf("%d of 100 nodes are hot, want %d", hot, wantHot)
		}
	}
}
