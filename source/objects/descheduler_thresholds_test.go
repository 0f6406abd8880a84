package objects

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestThresholdsAreThoseOfEachPool: as PLUGIN POOL LOW HIGH, with the nodes that they hold for.
func TestThresholdsAreThoseOfEachPool(t *testing.T) {
	const two = "nodePools: [{name: gold, nodeSelector: {matchLabels: {pool: gold}}, lowThresholds: {cpu: 20}, highThresholds: {cpu: 40}}, " +
		"{name: rest, lowThresholds: {cpu: 30}, highThresholds: {cpu: 50}}]"
	tests := map[string]struct {
		profiles string
		more     string
		want     []string
	}{
		"one pool":                {profile("LowNodeLoad", "lowThresholds: {cpu: 45}, highThresholds: {cpu: 75}"), "", []string{"LowNodeLoad  map[cpu:45] map[cpu:75]: gold silver"}},
		"those of prod pods":      {profile("LowNodeLoad", prod), "", []string{"LowNodeLoad  map[cpu:45 memory:55] map[cpu:75 memory:80] prod map[cpu:10] map[cpu:30]: gold silver"}},
		"distances from the mean": {profile("LowNodeLoad", fromMean), "", []string{"LowNodeLoad  map[cpu:10] map[cpu:10] of the mean: gold silver"}},
		"a pool takes nodes from the next": {
			profile("LowNodeLoad", two), "",
			[]string{"LowNodeLoad gold map[cpu:20] map[cpu:40]: gold", "LowNodeLoad rest map[cpu:30] map[cpu:50]: silver", "LowNodeLoad  map[] map[]:"},
		},
		"a plugin that is paused has none": {profile("LowNodeLoad", "paused: true, "+two) + profile("LoadAwareRebalancing", "paused: true"), "", nil},
		"the planner compares no low ones": {profile("LoadAwareRebalancing", "targetMarginPercent: 7"), "", []string{"LoadAwareRebalancing  map[] map[cpu:75 memory:80] planned margin 7: gold silver"}},
		"the mode of before does":          {profile("LoadAwareRebalancing", "mode: Upstream"), "", []string{"LoadAwareRebalancing  map[cpu:45 memory:55] map[cpu:75 memory:80] margin 5: gold silver"}},
		"its selector": {
			profile("LoadAwareRebalancing", "nodeSelector: {matchLabels: {pool: gold}}"), "",
			[]string{"LoadAwareRebalancing  map[] map[cpu:75 memory:80] planned margin 5: gold"},
		},
		"the selector of the descheduler": {
			profile("LoadAwareRebalancing", ""), "nodeSelector: {matchLabels: {pool: silver}}",
			[]string{"LoadAwareRebalancing  map[] map[cpu:75 memory:80] planned margin 5: silver"},
		},
		"that of a profile": {
			"- nodeSelector: {matchLabels: {pool: silver}}\n" + strings.Replace(profile("LoadAwareRebalancing", ""), "- ", "  ", 1), "",
			[]string{"LoadAwareRebalancing  map[] map[cpu:75 memory:80] planned margin 5: silver"},
		},
		"plugins that do not look at usage": {profile("RemoveDuplicates", ""), "", nil},
	}
	nodes := []corev1.Node{node("gold", inPool("gold")), node("silver", inPool("silver"))}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			read, err := ReadDescheduler(map[string]string{DeschedulerConfigMap: tc.more + "\nprofiles:\n" + tc.profiles})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, d := range read.Thresholds() {
				line := fmt.Sprintf("%s %s %v %v", d.Plugin, d.Pool, d.Low, d.High)
				if len(d.ProdLow)+len(d.ProdHigh) > 0 {
					line += fmt.Sprintf(" prod %v %v", d.ProdLow, d.ProdHigh)
				}
				if d.Deviation {
					line += " of the mean"
				}
				if d.Planned {
					line += " planned"
				}
				if d.Margin > 0 {
					line += fmt.Sprintf(" margin %g", d.Margin)
				}
				line += ":"
				for i := range nodes {
					if d.Selects(&nodes[i]) {
						line += " " + nodes[i].Name
					}
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("thresholds (-want +got):\n%s", diff)
			}
		})
	}
}

func TestASelectorThatCannotBeReadSelectsAllNodes(t *testing.T) {
	d := ShippedDescheduler("koordinator-system")
	d.Profiles[0].Rebalance.NodeSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "pool", Operator: "Is"}}}
	n := node("gold")
	if got := d.Thresholds(); len(got) != 1 || !got[0].Selects(&n) {
		t.Errorf("thresholds %+v", got)
	}
}

func TestWhichPluginsRun(t *testing.T) {
	d := ShippedDescheduler("kube-system")
	if !d.Runs("LoadAwareRebalancing") || d.Runs("LowNodeLoad") {
		t.Error("the chart enables LoadAwareRebalancing alone")
	}
	if diff := cmp.Diff([]string{"kube-system"}, d.Profiles[0].Migration.Namespaces.Exclude); diff != "" {
		t.Errorf("excluded namespaces of a system in kube-system (-want +got):\n%s", diff)
	}
}

func TestADeschedulerIsReadWithItsDefaults(t *testing.T) {
	read := func(text string) *Descheduler {
		t.Helper()
		d, err := ReadDescheduler(map[string]string{"config.yaml": text})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	empty := read("{}")
	if empty.Interval != defaultDeschedulingPeriod || empty.DryRun || empty.MaxPerNode != nil || len(empty.Profiles) != 0 {
		t.Errorf("the defaults are %+v", empty)
	}
	d := read("deschedulingInterval: 45s\ndryRun: true\nmaxNoOfPodsToEvictPerNode: 3\nmaxNoOfPodsToEvictPerNamespace: 4\nmaxNoOfPodsToEvictTotal: 5\nprofiles:\n" +
		"- plugins: {deschedule: {enabled: [{name: RemoveDuplicates}]}, balance: {enabled: [{name: LowNodeLoad}]}}\n")
	if d.Interval.Seconds() != 45 || !d.DryRun || *d.MaxPerNode != 3 || *d.MaxPerNamespace != 4 || *d.MaxTotal != 5 {
		t.Errorf("read %+v", d)
	}
	profile := d.Profiles[0]
	if diff := cmp.Diff([]string{"RemoveDuplicates", "LowNodeLoad"}, profile.Plugins); diff != "" || profile.Name != "koord-descheduler" {
		t.Errorf("profile %q, plugins in their order (-want +got):\n%s", profile.Name, diff)
	}
	if profile.Rebalance != nil || profile.LowNodeLoad == nil || *profile.LowNodeLoad.NodeFit != true || profile.Migration.DefaultJobTTL == nil {
		t.Errorf("arguments of a plugin that is not enabled, or no defaults: %+v", profile)
	}
}

func TestWhatIsWrongInAProfileIsNamed(t *testing.T) {
	tests := map[string]struct{ profile, want string }{
		"its node selector":                    {"- nodeSelector: {matchExpressions: [{key: a, operator: Is}]}", "profiles[0]: nodeSelector: "},
		"arguments of the MigrationController": {"- pluginConfig: [{name: MigrationController, args: {dryRun: 7}}]", "profiles[0]: arguments of MigrationController: "},
		"arguments of another type":            {profile("LoadAwareRebalancing", "paused: 7"), "profiles[0]: arguments of LoadAwareRebalancing: "},
		"a threshold above 100":                {profile("LoadAwareRebalancing", "highThresholds: {cpu: 101}"), "profiles[0]: arguments of LoadAwareRebalancing: highThresholds[cpu]: "},
		"thresholds in the wrong order":        {profile("LowNodeLoad", "lowThresholds: {cpu: 80}, highThresholds: {cpu: 70}"), "profiles[0]: arguments of LowNodeLoad: "},
		"the second profile":                   {"- {name: fine}\n" + profile("LowNodeLoad", "paused: 7"), "profiles[1]: arguments of LowNodeLoad: "},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := ReadDescheduler(map[string]string{DeschedulerConfigMap: "profiles:\n" + tc.profile})
			if err == nil || !strings.HasPrefix(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}
