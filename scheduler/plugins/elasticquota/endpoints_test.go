package elasticquota

import (
	"encoding/json"
	"strings"
	"testing"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/scheduler/services/servicestest"
)

func TestQuotasAreDumped(t *testing.T) {
	f := newFixture(t, "", newQuota("team", "2", "8", extension.LabelQuotaParent, "gone"), running(newPod("a", "3", "team", 0)), newPod("b", "1", "team", 0))
	get := func(path string, wantCode int) map[string]any {
		t.Helper()
		code, text := servicestest.Get(t, f.plugin, nil, path)
		var found map[string]any
		if err := json.Unmarshal([]byte(text), &found); err != nil || code != wantCode {
			t.Fatalf("%s: code %d, error %v: %s", path, code, err, text)
		}
		return found
	}
	cpu := func(summary any, field string) any {
		of, _ := summary.(map[string]any)
		amounts, _ := of[field].(map[string]any)
		return amounts["cpu"]
	}
	for _, path := range []string{"quota/team", "quotas/team"} {
		team := get(path, 200)
		for field, want := range map[string]any{"used": "3", "request": "4", "min": "2", "max": "8", "runtime": "4"} {
			if got := cpu(team, field); got != want {
				t.Errorf("%s: %s is %v, want %v", path, field, got, want)
			}
		}
		pods, _ := team["podCache"].(map[string]any)
		if len(pods) != 2 || !strings.Contains(string(encoded(t, team["problems"])), "KOORD1207") {
			t.Errorf("%s: pods %v, problems %v", path, pods, team["problems"])
		}
	}
	all := get("quotas", 200)
	if _, found := all["team"]; !found || cpu(all[extension.RootQuotaName], "total") != "10" || cpu(all[extension.DefaultQuotaName], "used") != "0" {
		t.Errorf("all quotas: %v", all)
	}
	if trees := get("trees", 200); cpu(trees[""], "total") != "10" || cpu(trees[""], "used") != "3" {
		t.Errorf("trees: %v", trees)
	}
	if other := get("quotas?tree=other", 200); len(other) != 0 {
		t.Errorf("quotas of another tree: %v", other)
	}
	if missing := get("quotas/gone", 404); missing["message"] != "cannot find quota gone" {
		t.Errorf("a quota that does not exist: %v", missing)
	}
}

func encoded(t *testing.T, value any) []byte {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
