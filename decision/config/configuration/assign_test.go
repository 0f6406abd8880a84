package configuration

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/decision/core/configmerge"
)

func TestParseAssignment(t *testing.T) {
	tests := map[string]struct {
		text, wantPath, wantValue, wantErr string
	}{
		"a value of the cluster":      {text: "colocation-config.enable=true", wantPath: "colocation-config.enable", wantValue: "true"},
		"an equals sign in the value": {text: "cpu-burst-config.policy=a=b", wantPath: "cpu-burst-config.clusterStrategy.policy", wantValue: "a=b"},
		"an equals sign in brackets":  {text: "colocation-config.nodeConfigs[a=b].enable=true", wantPath: "colocation-config.nodeConfigs[a=b].enable", wantValue: "true"},
		"an empty value":              {text: "cpu-burst-config.policy=", wantPath: "cpu-burst-config.clusterStrategy.policy"},
		"no value":                    {text: "colocation-config.enable", wantErr: `"colocation-config.enable": must be KEY.PATH=VALUE`},
		"no path":                     {text: "=true", wantErr: `"=true": must be KEY.PATH=VALUE`},
		"a trailing dot":              {text: "colocation-config.enable.=true", wantErr: `key path "colocation-config.enable.": trailing dot`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			path, value, err := ParseAssignment(tc.text)
			if tc.wantErr != "" {
				if err == nil || err.Error() != tc.wantErr {
					t.Fatalf("error %v, want %s", err, tc.wantErr)
				}
				return
			}
			if err != nil || path.String() != tc.wantPath || value != tc.wantValue {
				t.Errorf("%s = %q, error %v; want %s = %q", path, value, err, tc.wantPath, tc.wantValue)
			}
		})
	}
}

// TestAssignKeepsItsInput: the data that a change starts from is still there to compare with.
func TestAssignKeepsItsInput(t *testing.T) {
	before := map[string]string{"colocation-config": `{"enable": false}`, "system-config": "{}"}
	after, err := Assign(before, mustPath(t, "colocation-config.enable"), "true")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"colocation-config": "{\n  \"enable\": true\n}", "system-config": "{}"}
	if diff := cmp.Diff(want, after); diff != "" {
		t.Errorf("after (-want +got):\n%s", diff)
	}
	if before["colocation-config"] != `{"enable": false}` {
		t.Errorf("before is now %q", before)
	}
}

// TestTheNameOfASettingSetsIt: what is listed can be changed under the name it is listed by.
func TestTheNameOfASettingSetsIt(t *testing.T) {
	data := map[string]string{"colocation-config": `{"enable": true, "nodeConfigs": [
		{"nodeSelector": {"matchLabels": {"pool": "a"}}, "degradeTimeMinutes": 7}, {"name": "gold", "nodeSelector": {"matchLabels": {"pool": "b"}}, "degradeTimeMinutes": 8}]}`}
	config, problems := configmerge.Parse(data)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	settings, err := Read(config, KeyPath{Key: "colocation-config"})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for i := range settings {
		if s := &settings[i]; s.Path == "degradeTimeMinutes" {
			path := mustPath(t, s.Name())
			value, _, err := Value(data["colocation-config"], path)
			if err != nil {
				t.Fatal(err)
			}
			got[s.Name()] = value
		}
	}
	want := map[string]string{
		"colocation-config.degradeTimeMinutes": "", "colocation-config.nodeConfigs[0].degradeTimeMinutes": "7", "colocation-config.nodeConfigs[gold].degradeTimeMinutes": "8",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("values by name (-want +got):\n%s", diff)
	}
}
