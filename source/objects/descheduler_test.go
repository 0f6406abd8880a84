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
		"bad arguments": {
			map[string]string{DeschedulerConfigMap: "profiles: [{plugins: {balance: {enabled: [{name: LowNodeLoad}]}}, pluginConfig: [{name: LowNodeLoad, args: {lowThresholds: 3}}]}]"},
			"profiles[0]: arguments of LowNodeLoad",
		},
	}
	for name, tc := range tests {
		_, err := ReadDescheduler(tc.data)
		if (err == nil) != (tc.wantErr == "") || err != nil && !strings.Contains(err.Error(), tc.wantErr) {
			t.Errorf("%s: %v, want %q", name, err, tc.wantErr)
		}
	}
}
