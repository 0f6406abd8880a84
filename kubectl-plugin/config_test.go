package kubectlplugin

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"

	"koordinator.sh/koord/api/finding"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/quota"
	"koordinator.sh/koord/source"
)

const newConfig = `apiVersion: v1
kind: ConfigMap
metadata:
  name: slo-controller-config
data:
  colocation-config: |
    {
      "enable": true,
      "cpuReclaimThresholdPercent": 70
    }
`

const badConfig = `data-is-not-here: true
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: slo-controller-config
data:
  colocation-config: |
    {
      "enable": true,
      "cpuReclaimTresholdPercent": 70,
      "memoryReclaimThresholdPercent": "80"
    }
  system-config: |
    {"clusterStrategy": {"watermarkScaleFactor": 401}}
`

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestConfigCommandsPrint(t *testing.T) {
	const raise = "colocation-config.cpuReclaimThresholdPercent=70"
	lines := map[string]string{
		"get":                   "config get",
		"get-one":               "config get colocation-config.cpuReclaimThresholdPercent",
		"get-one-wide":          "config get colocation-config.cpuReclaimThresholdPercent -o wide",
		"get-strategy":          "config get colocation-config.nodeConfigs[gold].cpuReclaimThresholdPercent",
		"get-key":               "config get resource-threshold-config",
		"get-node":              "config get colocation-config.cpuReclaimThresholdPercent --node worker-3",
		"get-unknown-node":      "config get colocation-config --node worker-9",
		"get-unknown-strategy":  "config get colocation-config.nodeConfigs[silver].enable",
		"get-unknown-field":     "config get colocation-config.reclaim",
		"get-unknown-key":       "config get colocation.enable",
		"explain-field":         "config explain colocation-config.cpuReclaimThresholdPercent",
		"explain-key":           "config explain cpu-burst-config",
		"explain-unknown":       "config explain cpu-burst-config.burst",
		"init":                  "config init",
		"lint":                  "config lint",
		"plan":                  "config plan " + raise,
		"plan-thresholds":       "config plan resource-threshold-config.cpuSuppressThresholdPercent=30",
		"plan-off":              "config plan colocation-config.enable=false -o wide",
		"plan-nothing":          "config plan",
		"plan-names":            "config plan " + raise + " -o name",
		"plan-fail-on":          "config plan colocation-config.cpuReclaimThresholdPercent=80 --fail-on warning -o name",
		"plan-out-of-range":     "config plan resource-threshold-config.cpuSuppressThresholdPercent=500",
		"diff-out-of-range":     "config diff resource-threshold-config.cpuSuppressThresholdPercent=500",
		"plan-two-ways":         "config plan " + raise + " --revision 1",
		"plan-unknown-revision": "config plan --revision 9",
		"diff":                  "config diff " + raise,
		"diff-fresh-install":    "config diff",
		"diff-nothing":          "config diff colocation-config.cpuReclaimThresholdPercent=60",
		"set":                   "config set " + raise + " --yes",
		"set-dry-run":           "config set " + raise + " --dry-run",
		"set-nobody-to-ask":     "config set " + raise,
		"set-nothing":           "config set colocation-config.cpuReclaimThresholdPercent=60 --yes",
		"set-error":             "config set colocation-config.cpuReclaimThresholdPercent=-1 --yes",
		"set-no-value":          "config set colocation-config.cpuReclaimThresholdPercent --yes",
		"set-alone":             "config set",
		"unset-strategy":        "config unset colocation-config.nodeConfigs[gold] --yes",
		"unset-not-set":         "config unset colocation-config.degradeTimeMinutes --yes",
		"history-none":          "config history",
		"rollback-none":         "config rollback --yes",
		"apply-without-file":    "config apply",
		"config-alone":          "config",
		"bad-dry-run":           "config set " + raise + " --dry-run=yes",
		"set-dry-run-client":    "config set " + raise + " --dry-run=client",
		"set-name":              "config set " + raise + " --yes -o name",
		"set-evicts":            "config set resource-threshold-config.memoryEvictThresholdPercent=11 --yes -o name",
	}
	for name, line := range lines {
		t.Run(name, func(t *testing.T) {
			golden(t, "config/"+name, line, run(t, cluster(), line, with(newCabinet())))
		})
	}
}

func TestConfigLintOfAFile(t *testing.T) {
	file := writeFile(t, "bad.yaml", badConfig)
	connected := func(o *Options) {
		o.Connect = func(clientcmd.ClientConfig, Connection) (source.Source, error) {
			t.Error("a file was checked, and a cluster asked")
			return nil, errors.New("no")
		}
	}
	got := run(t, cluster(), "config lint -f "+file+" --fail-on error", connected)
	for _, stream := range []*string{&got.stdout, &got.stderr} {
		*stream = strings.ReplaceAll(*stream, file, "bad.yaml")
	}
	golden(t, "config/lint-file", "config lint -f bad.yaml --fail-on error", got)
	if got.code != ExitFindings {
		t.Errorf("exit code %d", got.code)
	}
	if got := run(t, cluster(), "config lint -f "+file, connected); got.code != ExitOK {
		t.Errorf("exit code %d without --fail-on", got.code)
	}
	if got := run(t, cluster(), "config lint -f "+writeFile(t, "none.yaml", "kind: Secret\n"), connected); got.code != ExitError {
		t.Errorf("exit code %d for a file without a configuration", got.code)
	}
}

// TestConfigChangesAreKeptAndTakenBack goes through a day of changes.
func TestConfigChangesAreKeptAndTakenBack(t *testing.T) {
	c := newCabinet()
	before := maps.Clone(c.current.Data)
	must := func(line string, wantCode int, edit ...func(*Options)) result {
		t.Helper()
		got := run(t, cluster(), line, with(c, edit...))
		if got.code != wantCode {
			t.Fatalf("%s: exit code %d\n%s%s", line, got.code, got.stdout, got.stderr)
		}
		return got
	}
	must("config set colocation-config.cpuReclaimThresholdPercent=70 --yes", ExitOK)
	file := writeFile(t, "new.yaml", newConfig)
	must("config apply -f "+file+" --yes", ExitOK)
	must("config diff", ExitOK)
	c.current.Data["system-config"] = `{"clusterStrategy": {"minFreeKbytesFactor": 100}}` // kubectl edit
	must("config diff", ExitError)
	must("config unset system-config --yes", ExitOK)
	history := must("config history", ExitOK)
	history.stdout = strings.ReplaceAll(history.stdout, file, "new.yaml")
	golden(t, "config/history", "config history", history)
	golden(t, "config/diff-revision", "config diff --revision 1", must("config diff --revision 1", ExitError))
	must("config rollback --to 1 --yes", ExitOK)
	if !maps.Equal(c.current.Data, before) {
		t.Errorf("after the rollback: %v", c.current.Data)
	}
	var causes []string
	for _, revision := range c.revisions {
		causes = append(causes, revision.Cause)
	}
	if got := len(c.revisions); got != 6 || !strings.HasPrefix(causes[0], "found") || !strings.HasPrefix(causes[3], "found") {
		t.Errorf("revisions %q", causes)
	}
}

func TestConfigAsksFirst(t *testing.T) {
	tests := map[string]struct {
		answer     string
		wantWrites int
		wantCode   int
	}{
		"yes":     {"y\n", 1, ExitOK},
		"YES":     {"YES\n", 1, ExitOK},
		"no":      {"n\n", 0, ExitError},
		"nothing": {"", 0, ExitError},
		"enter":   {"\n", 0, ExitError},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCabinet()
			got := run(t, cluster(), "config set colocation-config.cpuReclaimThresholdPercent=70", with(c, answering(tc.answer)))
			if c.writes != tc.wantWrites || got.code != tc.wantCode {
				t.Errorf("%d writes, exit code %d: %s", c.writes, got.code, got.stderr)
			}
			if !strings.Contains(got.stdout, "batch-cpu") {
				t.Errorf("asked without showing the plan:\n%s", got.stdout)
			}
		})
	}
}

func TestConfigApplyTakesNothingButTheConfiguration(t *testing.T) {
	const data = "data:\n  colocation-config: |\n    {\"enable\": false}\n"
	configMap := func(metadata string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata: " + metadata + "\n" + data
	}
	const system = "{name: slo-controller-config, namespace: koordinator-system}"
	tests := map[string]struct {
		text       string
		wantWrites int
		wantSaid   string
	}{
		"the configuration":                     {configMap(system), 1, ""},
		"without a namespace":                   {configMap("{name: slo-controller-config}"), 1, ""},
		"its data alone":                        {"colocation-config:\n  enable: false\n", 1, ""},
		"the configuration among other objects": {"kind: Deployment\nmetadata: {name: web}\n---\n" + configMap(system), 1, ""},
		"a ConfigMap of another name":           {configMap("{name: web-settings}"), 0, `but contains ConfigMap "web-settings"`},
		"a ConfigMap without a name":            {configMap("{}"), 0, "but contains ConfigMap without a name"},
		"the same name in another namespace":    {configMap("{name: slo-controller-config, namespace: shop}"), 0, "hint: -n shop"},
		"another kind of the same name":         {"apiVersion: v1\nkind: Secret\nmetadata: {name: slo-controller-config}\n" + data, 0, `but contains Secret "slo-controller-config"`},
		"another ConfigMap and data alone":      {configMap("{name: web-settings}") + "---\ncolocation-config: {enable: false}\n", 0, "web-settings"},
		"nothing":                               {"# nothing\n", 0, "hint: koordctl config init"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCabinet()
			got := run(t, cluster(), "config apply --yes -f "+writeFile(t, "given.yaml", tc.text), with(c))
			if c.writes != tc.wantWrites || (got.code == ExitOK) != (tc.wantWrites == 1) || !strings.Contains(got.stderr, tc.wantSaid) {
				t.Errorf("%d writes, exit code %d:\n%s", c.writes, got.code, got.stderr)
			}
		})
	}
}

// interrupted is standard input on which nothing is typed; the first read of it is where the user presses ctrl-c.
type interrupted struct{ cancel context.CancelFunc }

func (i interrupted) Read([]byte) (int, error) {
	i.cancel()
	select {}
}

func TestInterruptionAtTheQuestionWritesNothing(t *testing.T) {
	for _, line := range []string{"config set colocation-config.enable=false", "config unset colocation-config.enable"} {
		t.Run(line, func(t *testing.T) {
			c := newCabinet()
			ctx, cancel := context.WithCancel(t.Context())
			got := runUntil(ctx, t, cluster(), line, with(c, func(o *Options) { o.Streams.In, o.Terminal.Input = interrupted{cancel}, true }))
			if got.code != ExitInterrupted || c.writes != 0 || len(c.revisions) != 0 {
				t.Errorf("exit code %d, %d writes, %d revisions", got.code, c.writes, len(c.revisions))
			}
			if !strings.Contains(got.stderr, "Nothing was written.") {
				t.Errorf("standard error %q", got.stderr)
			}
		})
	}
}

// TestConfigSaysWhatIsWrongBeforeItAsksForYes: with --yes a change with an error would fail too, so that the error is what
// a script has to know.
func TestConfigSaysWhatIsWrongBeforeItAsksForYes(t *testing.T) {
	bad := writeFile(t, "bad.yaml", badConfig)
	tests := map[string]struct {
		line, in string
		want     string
		wantCode int
	}{
		"an unknown key":            {"config set foo.bar=1", "", `unknown key "foo"`, ExitUsage},
		"an unknown key to unset":   {"config unset foo.bar", "", `unknown key "foo"`, ExitUsage},
		"an unknown field":          {"config set colocation-config.cpuReclaimThreshold=70", "", "KOORD0207", ExitError},
		"a value that is no JSON":   {"config set colocation-config.nodeConfigs=[1", "", `"[1" is not valid JSON`, ExitError},
		"a value of another kind":   {"config set colocation-config.enable=maybe", "", "KOORD0201", ExitError},
		"a value out of range":      {"config set colocation-config.degradeTimeMinutes=0", "", "KOORD0203", ExitError},
		"a value that is not set":   {"config unset colocation-config.degradeTimeMinutes", "", "is not set", ExitError},
		"a file with errors":        {"config apply -f " + bad, "", "KOORD0203", ExitError},
		"the same from a pipe":      {"config apply -f -", badConfig, "KOORD0203", ExitError},
		"a file that is not there":  {"config apply -f none.yaml", "", "none.yaml", ExitError},
		"a revision that is not":    {"config rollback --to 9", "", "revision 9 not found", ExitError},
		"a change without an error": {"config set colocation-config.enable=false", "", "--yes writes without asking", ExitUsage},
		"a good file from a pipe":   {"config apply -f -", newConfig, "--yes is required", ExitUsage},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCabinet()
			got := run(t, cluster(), tc.line, with(c, func(o *Options) { o.Streams.In = strings.NewReader(tc.in) }))
			if got.code != tc.wantCode || !strings.Contains(got.stderr, tc.want) || c.writes != 0 || len(c.revisions) != 0 {
				t.Errorf("exit code %d, %d writes:\n%s", got.code, c.writes, got.stderr)
			}
			if said := strings.Contains(got.stderr, "--yes"); said != (tc.wantCode == ExitUsage && !strings.Contains(tc.want, "unknown")) {
				t.Errorf("speaks of --yes: %t\n%s", said, got.stderr)
			}
		})
	}
}

func TestConfigNeverWritesWhatItShouldNot(t *testing.T) {
	taken := finding.Wrap(errors.New("kept by argocd"), finding.ConfigTakenOver, "--force-conflicts")
	tests := map[string]struct {
		line       string
		edit       func(*cabinet)
		wantWrites int
		wantCode   int
	}{
		"a dry run":                       {"config set colocation-config.enable=false --dry-run=server -o json", nil, 0, ExitOK},
		"an error":                        {"config set colocation-config.degradeTimeMinutes=0 --yes", nil, 0, ExitError},
		"what another program keeps":      {"config set colocation-config.enable=false --yes", func(c *cabinet) { c.refuse = taken }, 0, ExitError},
		"unless it is forced":             {"config set colocation-config.enable=false --yes --force-conflicts", func(c *cabinet) { c.refuse = taken }, 1, ExitOK},
		"what cannot be taken back":       {"config set colocation-config.enable=false --yes", func(c *cabinet) { c.unkept = errors.New("forbidden") }, 0, ExitError},
		"a key beside one that is broken": {"config set cpu-burst-config.policy=auto --yes", func(c *cabinet) { c.current.Data["system-config"] = "{" }, 1, ExitOK},
		"a broken key that stays broken": {"config set system-config.minFreeKbytesFactor=-1 --yes", func(c *cabinet) {
			c.current.Data["system-config"] = `{"clusterStrategy": {"watermarkScaleFactor": 999}}`
		}, 0, ExitError},
		"a configuration that does not exist": {"config set colocation-config.enable=true --yes", func(c *cabinet) { c.current = source.Configuration{} }, 1, ExitOK},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCabinet()
			if tc.edit != nil {
				tc.edit(c)
			}
			got := run(t, cluster(), tc.line, with(c))
			if c.writes != tc.wantWrites || got.code != tc.wantCode {
				t.Errorf("%d writes, exit code %d:\n%s%s", c.writes, got.code, got.stdout, got.stderr)
			}
		})
	}
}

func TestConfigEdit(t *testing.T) {
	script := func(t *testing.T, text string) func(*Options) {
		file := writeFile(t, "editor.sh", "#!/bin/sh\n"+text+"\n")
		if err := os.Chmod(file, 0o755); err != nil {
			t.Fatal(err)
		}
		return func(o *Options) { o.Environ = append(o.Environ, "KUBE_EDITOR="+file) }
	}
	t.Run("the text that is saved is written", func(t *testing.T) {
		c := newCabinet()
		got := run(t, cluster(), "config edit --yes", with(c, script(t, `sed -i 's/": 60/": 66/' "$1"`)))
		if got.code != ExitOK || !strings.Contains(c.current.Data["colocation-config"], `"cpuReclaimThresholdPercent": 66`) {
			t.Errorf("exit code %d, %v\n%s", got.code, c.current.Data, got.stderr)
		}
	})
	t.Run("an error opens the editor again and is told there", func(t *testing.T) {
		c := newCabinet()
		got := run(t, cluster(), "config edit --yes", with(c, script(t,
			`if grep -q KOORD0203 "$1"; then sed -i 's/": -1/": 61/' "$1"; else sed -i 's/": 60/": -1/' "$1"; fi`)))
		if got.code != ExitOK || !strings.Contains(c.current.Data["colocation-config"], `"cpuReclaimThresholdPercent": 61`) {
			t.Errorf("exit code %d, %v\n%s", got.code, c.current.Data, got.stderr)
		}
	})
	t.Run("an unchanged text writes nothing", func(t *testing.T) {
		c := newCabinet()
		if got := run(t, cluster(), "config edit --yes", with(c, script(t, "true"))); got.code != ExitError || c.writes != 0 {
			t.Errorf("exit code %d, %d writes", got.code, c.writes)
		}
	})
	t.Run("an editor that fails writes nothing", func(t *testing.T) {
		c := newCabinet()
		if got := run(t, cluster(), "config edit --yes", with(c, script(t, "exit 3"))); got.code != ExitError || c.writes != 0 {
			t.Errorf("exit code %d, %d writes", got.code, c.writes)
		}
	})
}

func TestEditedTextsReadBack(t *testing.T) {
	for name, data := range map[string]map[string]string{
		"nothing": {}, "a block": {"a": "{\n  \"b\": 1\n}"}, "tabs": {"a": "{\n\t\"b\": 1\n}"}, "spaces at an end": {"a": "{ \n}"}, "a leading space": {"a": "  {}"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := dataOrNone(dataText(data))
			if err != nil || !maps.Equal(got, data) {
				t.Errorf("read %q, %v from\n%s", got, err, dataText(data))
			}
		})
	}
}

func dataOrNone(text string) (map[string]string, error) {
	if text == "{}\n" {
		return map[string]string{}, nil
	}
	document, err := parseConfigFile([]byte(text))
	if err != nil {
		return nil, err
	}
	return document.data, nil
}

func TestConfigAnswersAreObjects(t *testing.T) {
	same, err := json.Marshal(newCabinet().current.Data)
	if err != nil {
		t.Fatal(err)
	}
	file := writeFile(t, "same.json", string(same))
	for line, wantKind := range map[string]string{
		"config get":  "ConfigSettingList",
		"config lint": "ConfigFindingList",
		"config plan colocation-config.enable=false": "ConfigPlanNodeList",
		"config diff colocation-config.enable=false": "ConfigSettingChangeList",
		"config history":                                  "ConfigRevisionList",
		"config explain system-config":                    "ConfigFieldList",
		"config set colocation-config.enable=false --yes": "ConfigPlanNodeList",
		"config apply --yes -f " + file:                   "ConfigPlanNodeList",
		"config apply -f " + file:                         "ConfigPlanNodeList",
	} {
		t.Run(line, func(t *testing.T) {
			for _, format := range []string{"json", "yaml", "jsonpath={.kind}"} {
				c := newCabinet()
				c.revisions = []source.Revision{{Number: 1, Data: c.current.Data}}
				got := run(t, cluster(), line+" -o "+format, with(c))
				if got.stdout == "" {
					t.Fatalf("%s: %s", format, got.stderr)
				}
				var object struct {
					APIVersion, Kind string
					Items            *[]struct{ Kind string }
				}
				if strings.HasPrefix(format, "jsonpath") {
					if got.stdout != wantKind {
						t.Errorf("kind %q", got.stdout)
					}
					continue
				}
				if err := yaml.Unmarshal([]byte(got.stdout), &object); err != nil {
					t.Fatal(err)
				}
				if object.Kind != wantKind || object.APIVersion != "diagnostics.koordinator.sh/v1alpha1" || object.Items == nil {
					t.Errorf("got %+v", object)
				}
			}
		})
	}
}

// TestConfigPlanSharesQuotasAsTheSchedulerDoes: by the arguments that the scheduler's configuration gives.
func TestConfigPlanSharesQuotasAsTheSchedulerDoes(t *testing.T) {
	for name, tc := range map[string]struct {
		args     *quota.Args
		wantSaid bool
	}{
		"by default mins are scaled down": {nil, true},
		"unless the scheduler does not":   {&quota.Args{EnableMinQuotaScale: new(false)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCabinet()
			if c.current.ElasticQuota = tc.args; tc.args != nil {
				quota.SetDefaults(tc.args)
			}
			etl := schedulingsigsv1alpha1.ElasticQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "spark", Name: "spark"}}
			etl.Spec.Min, etl.Spec.Max = list("kubernetes.io/batch-cpu", "900000"), list("kubernetes.io/batch-cpu", "900000")
			c.impact.Quotas = []schedulingsigsv1alpha1.ElasticQuota{etl}
			waiting := makePod("spark", "executor-2", "", list("kubernetes.io/batch-cpu", "900000"))
			c.impact.Pods = append(c.impact.Pods, waiting)
			got := run(t, cluster(), "config plan colocation-config.cpuReclaimThresholdPercent=70", with(c))
			if said := strings.Contains(got.stdout, "1 quota with a different share"); said != tc.wantSaid {
				t.Errorf("a quota changes: %t\n%s%s", said, got.stdout, got.stderr)
			}
		})
	}
}

func TestConfigCompletion(t *testing.T) {
	tests := map[string]struct{ line, want string }{
		"revisions, the latest first": {"__complete config rollback --to 1", "11\n10\tconfig set a.b=1\n:36\n"},
		"revisions to compare with":   {"__complete config diff --revision 9", "9\tconfig edit\n:36\n"},
		"keys":                        {"__complete config get co", "colocation-config.\n:6\n"},
		"fields":                      {"__complete config set cpu-burst-config.cpu", "cpu-burst-config.cpuBurstPercent=\tCPUBurstPercent of the limit can be accumulated while idle; 1000.\n:6\n"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCabinet()
			c.revisions = []source.Revision{{Number: 9, Cause: "config edit"}, {Number: 10, Cause: "config set a.b=1"}, {Number: 11}}
			if got := run(t, cluster(), tc.line, with(c)).stdout; got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestConfigTextsShowTheNameCalledBy(t *testing.T) {
	for _, line := range []string{"config lint", "config history", "config set colocation-config.enable=x --yes", "config --help", "config plan --help", "config rollback"} {
		got := run(t, cluster(), line, with(newCabinet(), func(o *Options) { o.Name = "kubectl koord" }))
		if text := got.stdout + got.stderr; strings.Contains(text, "koordctl") {
			t.Errorf("%s called as a plugin says:\n%s", line, text)
		}
	}
}
