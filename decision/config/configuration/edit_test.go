package configuration

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/api/configuration"
	"koordinator.sh/koord/decision/core/configmerge"
)

func mustPath(t testing.TB, text string) KeyPath {
	t.Helper()
	path, err := ParseKeyPath(text)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestSet(t *testing.T) {
	const strategies = `{"nodeConfigs": [{"name": "gold", "b": 1, "a": 2}, {"name": "big"}], "enable": true}`
	tests := map[string]struct {
		text, path, value string
		want              string
		wantErr           string
	}{
		"a new value in nothing": {path: "colocation-config.enable", value: "true", want: `{"enable": true}`},
		"the cluster's strategy is where a value without more belongs": {
			path: "resource-threshold-config.enable", value: "true", want: `{"clusterStrategy": {"enable": true}}`,
		},
		"a value keeps its place": {
			text: `{"z": 1, "enable": false, "a": 1.50}`, path: "colocation-config.enable", value: "true", want: `{"z": 1, "enable": true, "a": 1.50}`,
		},
		"a number stays one":                 {path: "colocation-config.cpuReclaimThresholdPercent", value: "70", want: `{"cpuReclaimThresholdPercent": 70}`},
		"a text is quoted":                   {path: "cpu-burst-config.policy", value: "auto", want: `{"clusterStrategy": {"policy": "auto"}}`},
		"a text that looks like a number":    {path: "host-application-config.applications[0].name", value: "7", want: `{"applications": [{"name": "7"}]}`},
		"a text that is quoted already":      {path: "cpu-burst-config.policy", value: `"auto"`, want: `{"clusterStrategy": {"policy": "auto"}}`},
		"an array":                           {path: "colocation-config.metricAggregatePolicy.durations", value: `["5m"]`, want: `{"metricAggregatePolicy": {"durations": ["5m"]}}`},
		"a quantity":                         {path: "system-config.totalNetworkBandwidth", value: "10G", want: `{"clusterStrategy": {"totalNetworkBandwidth": "10G"}}`},
		"a percentage where text may be too": {path: "resource-qos-config.beClass.networkQOS.ingressLimit", value: "50", want: `{"clusterStrategy": {"beClass": {"networkQOS": {"ingressLimit": 50}}}}`},
		"a key with dots": {
			path: `resource-amplification-config.resourceAmplificationRatio["example.com/x"]`, value: "1.5",
			want: `{"resourceAmplificationRatio": {"example.com/x": 1.5}}`,
		},
		"a field that nothing reads and that stands there already": {
			text: strategies, path: "colocation-config.nodeConfigs[gold].a", value: "3",
			want: `{"nodeConfigs": [{"name": "gold", "b": 1, "a": 3}, {"name": "big"}], "enable": true}`,
		},
		"a strategy by its name": {
			text: `{"nodeConfigs": [{"name": "gold"}, {"name": "big"}]}`, path: "colocation-config.nodeConfigs[gold].enable", value: "true",
			want: `{"nodeConfigs": [{"name": "gold", "enable": true}, {"name": "big"}]}`,
		},
		"a strategy by its place": {
			text: strategies, path: "colocation-config.nodeConfigs[1].enable", value: "true",
			want: `{"nodeConfigs": [{"name": "gold", "b": 1, "a": 2}, {"name": "big", "enable": true}], "enable": true}`,
		},
		"the place after the last adds one": {text: `{"nodeConfigs": []}`, path: "colocation-config.nodeConfigs[0].name", value: "x", want: `{"nodeConfigs": [{"name": "x"}]}`},
		"a whole key":                       {text: strategies, path: "colocation-config", value: `{"enable": false}`, want: `{"enable": false}`},
		"signs of HTML stay":                {text: `{"extensions": {"a": "<&>"}}`, path: "colocation-config.enable", value: "true", want: `{"extensions": {"a": "<&>"}, "enable": true}`},

		"a strategy that does not exist":   {text: strategies, path: "colocation-config.nodeConfigs[silver].a", value: "3", wantErr: `no item is named "silver"; the names are gold, big`},
		"a place that does not exist":      {text: strategies, path: "colocation-config.nodeConfigs[7].a", value: "3", wantErr: "there is no item [7]"},
		"a field that nothing reads":       {text: strategies, path: "colocation-config.enabel", value: "true", wantErr: "colocation-config.enabel is not a known field, did you mean enable?"},
		"one in an object":                 {path: "resource-threshold-config", value: `{"clusterStrategy": {"enabel": true}}`, wantErr: "enabel is not a known field"},
		"a field of a number":              {text: `{"enable": true}`, path: "colocation-config.enable.x", value: "3", wantErr: "parent is not an object"},
		"a text that cannot be edited":     {text: `{`, path: "colocation-config.enable", value: "true", wantErr: "not valid JSON"},
		"an object that is not JSON":       {path: "colocation-config.extensions", value: "{a}", wantErr: "not valid JSON"},
		"a whole key that is not a object": {path: "colocation-config", value: "x", wantErr: "not valid JSON"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Set(tc.text, mustPath(t, tc.path), tc.value)
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
					t.Fatalf("error %v, want %q", err, tc.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(oneLine(t, tc.want), oneLine(t, got)); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
		})
	}
}

// oneLine is JSON without white space, in its order.
func oneLine(t testing.TB, text string) string {
	t.Helper()
	var b strings.Builder
	root, err := parseTree(text)
	if err != nil {
		t.Fatal(err)
	}
	root.write(&b, "")
	return b.String()
}

func TestUnset(t *testing.T) {
	tests := map[string]struct{ text, path, want, wantErr string }{
		"a value": {text: `{"enable": true, "degradeTimeMinutes": 5}`, path: "colocation-config.degradeTimeMinutes", want: `{"enable": true}`},
		"the last of a class takes the class with it, and leaves the strategy": {
			text: `{"clusterStrategy": {"beClass": {"cpuQOS": {"enable": true}}}}`, path: "resource-qos-config.beClass.cpuQOS.enable", want: `{"clusterStrategy": {}}`,
		},
		"a node strategy":                {text: `{"nodeConfigs": [{"name": "a"}, {"name": "b"}]}`, path: "colocation-config.nodeConfigs[a]", want: `{"nodeConfigs": [{"name": "b"}]}`},
		"a whole key":                    {text: `{"enable": true}`, path: "colocation-config", want: `{}`},
		"what is not set":                {text: `{}`, path: "colocation-config.enable", wantErr: "is not set"},
		"a strategy that does not exist": {text: `{"nodeConfigs": []}`, path: "colocation-config.nodeConfigs[0]", wantErr: "there is no item"},
		"a text that cannot be edited":   {text: `[`, path: "colocation-config.enable", wantErr: "not valid JSON"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Unset(tc.text, mustPath(t, tc.path))
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
					t.Fatalf("error %v, want %q", err, tc.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(oneLine(t, tc.want), oneLine(t, got)); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
		})
	}
}

func TestKeyPaths(t *testing.T) {
	tests := map[string]struct{ want, wantStrategy, wantField, wantErr string }{
		"colocation-config":                                         {want: "colocation-config"},
		"colocation-config.enable":                                  {want: "colocation-config.enable", wantField: "enable"},
		"system-config.schedFeatures.ID_EXPELLER_SHARE_CORE":        {want: "system-config.clusterStrategy.schedFeatures.ID_EXPELLER_SHARE_CORE", wantStrategy: "clusterStrategy", wantField: "schedFeatures.ID_EXPELLER_SHARE_CORE"},
		"system-config.clusterStrategy.minFreeKbytesFactor":         {want: "system-config.clusterStrategy.minFreeKbytesFactor", wantStrategy: "clusterStrategy", wantField: "minFreeKbytesFactor"},
		"system-config.nodeStrategies[gold].minFreeKbytesFactor":    {want: "system-config.nodeStrategies[gold].minFreeKbytesFactor", wantStrategy: "nodeStrategies[gold]", wantField: "minFreeKbytesFactor"},
		"host-application-config.applications[0].name":              {want: "host-application-config.applications[0].name", wantField: "applications[].name"},
		`cpu-normalization-config.ratioModel["Xeon 8.0"].baseRatio`: {want: `cpu-normalization-config.ratioModel["Xeon 8.0"].baseRatio`, wantField: "ratioModel.Xeon 8.0.baseRatio"},
		"":                          {wantErr: "unknown key"},
		"colocation.enable":         {wantErr: "unknown key"},
		"colocation-config.":        {want: "colocation-config"},
		"colocation-config.a.":      {wantErr: "trailing dot"},
		"colocation-config..a":      {wantErr: "empty field name"},
		"colocation-config.a[":      {wantErr: "must be [NUMBER] or [NAME]"},
		`colocation-config.a["b`:    {wantErr: `must be ["KEY"]`},
		"resource-config.a":         {wantErr: "unknown key"},
		"resource-threshold.enable": {wantErr: "did you mean resource-threshold-config?"},
	}
	for text, tc := range tests {
		t.Run(text, func(t *testing.T) {
			path, err := ParseKeyPath(text)
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
					t.Fatalf("error %v, want %q", err, tc.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if path.String() != tc.want || path.Strategy() != tc.wantStrategy || path.Field() != tc.wantField {
				t.Errorf("got %q, strategy %q, field %q", path, path.Strategy(), path.Field())
			}
		})
	}
}

// TestEveryFieldCanBeSetReadAndUnset sets each scalar to a value in its range, through the path that explain shows.
func TestEveryFieldCanBeSetReadAndUnset(t *testing.T) {
	values := map[string][]string{
		"boolean": {"true"}, "whole number": {"1", "100", "0"}, "number": {"1"}, "text": {"x"}, "duration": {"5m"}, "quantity": {"10M"}, "percent or quantity": {"10"}, "any": {"7"},
	}
	for _, key := range configuration.Keys() {
		fields, err := Explain(KeyPath{Key: key})
		if err != nil {
			t.Fatal(err)
		}
		for _, field := range fields {
			if field.Description == "" {
				t.Errorf("%s.%s has no description", key, field.Path)
			}
			path := mustPath(t, JoinKey(key, strings.ReplaceAll(strings.ReplaceAll(field.Path, "[]", "[0]"), ".*", ".x")))
			candidates := values[field.Kind]
			if words, ok := strings.CutPrefix(field.Range, "one of "); ok {
				candidates = strings.Split(words, ", ")
			}
			var wrong []configmerge.Problem
			for _, value := range candidates {
				text, err := Set("", path, value)
				if err != nil {
					t.Fatalf("%s=%s: %v", path, value, err)
				}
				if wrong = newProblems(key, text); len(wrong) > 0 {
					continue
				}
				if got, ok, err := Value(text, path); !ok || err != nil || strings.Trim(oneLine(t, got), `"`) != value {
					t.Errorf("%s: read %q, %t, %v after setting %q", path, got, ok, err, value)
				}
				if _, err := Unset(text, path); err != nil {
					t.Errorf("%s: %v", path, err)
				}
				break
			}
			if len(wrong) > 0 || len(candidates) == 0 {
				t.Errorf("%s (%s): no value of %q is accepted: %v", path, field.Kind, candidates, wrong)
			}
		}
	}
}

// newProblems are what is wrong with a text apart from pairs of values that need each other.
func newProblems(key, text string) []configmerge.Problem {
	_, problems := configmerge.Parse(map[string]string{key: text})
	return append(problems, configmerge.Unknown(key, text)...)
}

func FuzzEdit(f *testing.F) {
	f.Add(`{"enable": true, "nodeConfigs": [{"name": "a"}]}`, "colocation-config.nodeConfigs[a].enable", "false")
	f.Add(`{"a": [1, 2, {"b": null}]}`, `colocation-config.a[2]["b"]`, "x")
	f.Add(``, "resource-qos-config.beClass", `{"cpuQOS": {}}`)
	f.Fuzz(func(t *testing.T, text, name, value string) {
		path, err := ParseKeyPath(name)
		if err != nil {
			return
		}
		if again, err := ParseKeyPath(path.String()); err != nil || again.String() != path.String() {
			t.Errorf("%q reads back as %q, %v", path, again, err)
		}
		out, err := Set(text, path, value)
		if err != nil {
			return
		}
		if !json.Valid([]byte(out)) {
			t.Fatalf("set %q=%q in %q gives %q", name, value, text, out)
		}
		if _, ok, err := Value(out, path); !ok || err != nil {
			t.Errorf("what was set at %q cannot be read: %v", name, err)
		}
		if out, err = Unset(out, path); err == nil && !json.Valid([]byte(out)) {
			t.Errorf("unset %q gives %q", name, out)
		}
	})
}
