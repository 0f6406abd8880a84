package kubectlplugin

import (
	"errors"
	"strings"
	"testing"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/source"
)

// TestConcurrentChanges: those of different fields are both made, one of the same field is refused with its own code.
func TestConcurrentChanges(t *testing.T) {
	other := strings.Replace(cabinetColocation, `"enable": true`, `"enable": true, "memoryReclaimThresholdPercent": 61`, 1)
	same := strings.Replace(cabinetColocation, `"cpuReclaimThresholdPercent": 60`, `"cpuReclaimThresholdPercent": 61`, 1)
	const raise = "config set colocation-config.cpuReclaimThresholdPercent=70 --yes"
	file := "config apply --yes -f " + writeFile(t, "new.yaml", newConfig)
	tests := map[string]struct {
		line       string
		rivals     []func(*cabinet)
		wantWrites int
		want       string
		wantCode   finding.Code
	}{
		"another field":               {raise, []func(*cabinet){rival("colocation-config", other)}, 1, `"memoryReclaimThresholdPercent": 61`, ""},
		"another field, many times":   {raise, []func(*cabinet){rival("colocation-config", other), rival("system-config", "{}"), rival("cpu-burst-config", "{}")}, 1, `"cpuReclaimThresholdPercent": 70`, ""},
		"the same field":              {raise, []func(*cabinet){rival("colocation-config", same)}, 0, `"cpuReclaimThresholdPercent": 61`, finding.ConfigChanged},
		"the same value":              {raise, []func(*cabinet){rival("colocation-config", strings.ReplaceAll(same, "61", "70"))}, 0, `"cpuReclaimThresholdPercent": 70`, ""},
		"a field of a removed key":    {"config unset colocation-config --yes", []func(*cabinet){rival("colocation-config", same)}, 0, `"cpuReclaimThresholdPercent": 61`, finding.ConfigChanged},
		"another key than a file's":   {file, []func(*cabinet){rival("system-config", "{}")}, 1, `"cpuReclaimThresholdPercent": 70`, ""},
		"another field of a file's":   {file, []func(*cabinet){rival("colocation-config", other)}, 0, `"memoryReclaimThresholdPercent": 61`, finding.ConfigChanged},
		"anything while rolling back": {"config rollback --to 1 --yes", []func(*cabinet){rival("system-config", "{}")}, 0, `"cpuReclaimThresholdPercent": 60`, finding.ConfigChanged},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCabinet()
			if strings.Contains(tc.line, "rollback") {
				c.revisions = []source.Revision{{Number: 1, Data: map[string]string{"colocation-config": "{}"}}}
			}
			c.rivals = tc.rivals
			got := run(t, cluster(), tc.line, with(c))
			if c.writes != tc.wantWrites || (got.code == ExitOK) != (tc.wantCode == "") || !strings.Contains(got.stderr, string(tc.wantCode)) {
				t.Errorf("%d writes, exit code %d, %q", c.writes, got.code, got.stderr)
			}
			if !strings.Contains(c.current.Data["colocation-config"], tc.want) {
				t.Errorf("stored %s, want %s in it", c.current.Data["colocation-config"], tc.want)
			}
		})
	}
}

func TestARefusedWriteLeavesNoRevision(t *testing.T) {
	c := newCabinet()
	c.refuse = finding.Wrap(errors.New("kept by argocd"), finding.ConfigTakenOver, "")
	if got := run(t, cluster(), "config set colocation-config.enable=false --yes", with(c)); got.code != ExitError || len(c.revisions) > 0 {
		t.Errorf("exit code %d, revisions %+v", got.code, c.revisions)
	}
}

func TestEvictionsAreAllowedInAdvanceOrSeen(t *testing.T) {
	const evicts = "config set resource-threshold-config.memoryEvictThresholdPercent=11"
	tests := map[string]struct {
		line       string
		edit       []func(*Options)
		wantWrites int
		wantCode   int
	}{
		"nobody sees it":              {evicts + " --yes", nil, 0, ExitError},
		"as many as allowed":          {evicts + " --yes --max-evictions 1", nil, 1, ExitOK},
		"more than allowed":           {evicts + " --yes --max-evictions 0", nil, 0, ExitError},
		"a person has seen the plan":  {evicts, []func(*Options){answering("y\n")}, 1, ExitOK},
		"a person may have a bound":   {evicts + " --max-evictions=0", []func(*Options){answering("y\n")}, 0, ExitError},
		"a dry run shows it":          {evicts + " --yes --dry-run", nil, 0, ExitOK},
		"a change that evicts nobody": {"config set colocation-config.degradeTimeMinutes=20 --yes", nil, 1, ExitOK},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCabinet()
			got := run(t, cluster(), tc.line, with(c, tc.edit...))
			if c.writes != tc.wantWrites || got.code != tc.wantCode || strings.Contains(got.stderr, "KOORD0216") != (tc.wantCode == ExitError) {
				t.Errorf("%d writes, exit code %d\n%s%s", c.writes, got.code, got.stdout, got.stderr)
			}
		})
	}
}
