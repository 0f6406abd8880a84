package objects

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"koordinator.sh/koord/decision/descheduling/migration"
	"koordinator.sh/koord/decision/descheduling/rebalance"
)

// TestShippedDeschedulerIsThatOfTheChart: what is used without a ConfigMap is what the values of the chart say.
func TestShippedDeschedulerIsThatOfTheChart(t *testing.T) {
	raw, err := os.ReadFile("../../deploy/koordinator/values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var values struct {
		Descheduler struct {
			Config struct {
				DeschedulingInterval string          `json:"deschedulingInterval"`
				ExcludedNamespaces   []string        `json:"excludedNamespaces"`
				Mode                 string          `json:"mode"`
				LoadAwareRebalancing json.RawMessage `json:"loadAwareRebalancing"`
				MigrationController  json.RawMessage `json:"migrationController"`
			} `json:"config"`
		} `json:"descheduler"`
	}
	if err := yaml.Unmarshal(raw, &values); err != nil {
		t.Fatal(err)
	}
	config := values.Descheduler.Config
	got, err := ReadDescheduler(map[string]string{DeschedulerConfigMap: `
deschedulingInterval: ` + config.DeschedulingInterval + `
profiles:
- name: koord-descheduler
  plugins: {balance: {enabled: [{name: LoadAwareRebalancing}]}}
  pluginConfig:
  - {name: LoadAwareRebalancing, args: ` + string(config.LoadAwareRebalancing) + `}
  - {name: MigrationController, args: ` + string(config.MigrationController) + `}
`})
	if err != nil {
		t.Fatal(err)
	}
	want := ShippedDescheduler("koordinator-system")
	excluded := append([]string{"kube-system", "koordinator-system"}, config.ExcludedNamespaces...)
	if diff := cmp.Diff(excluded, want.Profiles[0].Migration.Namespaces.Exclude); diff != "" {
		t.Errorf("excluded namespaces (-chart +shipped):\n%s", diff)
	}
	want.Profiles[0].Migration.Namespaces = nil
	if config.Mode != "planner" || got.Interval != want.Interval || len(got.Profiles) != 1 {
		t.Errorf("mode %s, interval %s, want %s; %d profiles", config.Mode, got.Interval, want.Interval, len(got.Profiles))
	}
	if diff := cmp.Diff(asJSON[rebalance.Args](t, got.Profiles[0].Rebalance), asJSON[rebalance.Args](t, want.Profiles[0].Rebalance)); diff != "" {
		t.Errorf("LoadAwareRebalancing (-chart +shipped):\n%s", diff)
	}
	if diff := cmp.Diff(asJSON[migration.Args](t, got.Profiles[0].Migration), asJSON[migration.Args](t, want.Profiles[0].Migration)); diff != "" {
		t.Errorf("MigrationController (-chart +shipped):\n%s", diff)
	}
}

func asJSON[T any](t *testing.T, args *T) string {
	t.Helper()
	out, err := json.MarshalIndent(args, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestReadDeschedulerNamesWhatIsWrong(t *testing.T) {
	tests := map[string]struct {
		data    map[string]string
		wantErr string
	}{
		"no key":              {map[string]string{"a": "", "b": ""}, `key "koord-descheduler-config" is missing`},
		"another only key":    {map[string]string{"config.yaml": "profiles: []"}, ""},
		"no YAML":             {map[string]string{DeschedulerConfigMap: "a: ["}, "read the DeschedulerConfiguration"},
		"a bad node selector": {map[string]string{DeschedulerConfigMap: "nodeSelector: {matchExpressions: [{key: a, operator: Is}]}"}, "nodeSelector"},
	}
	for name, tc := range tests {
		_, err := ReadDescheduler(tc.data)
		if (err == nil) != (tc.wantErr == "") || err != nil && !strings.Contains(err.Error(), tc.wantErr) {
			t.Errorf("%s: %v, want %q", name, err, tc.wantErr)
		}
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
