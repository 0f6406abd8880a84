package kubectlplugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/layering"
	"koordinator.sh/koord/source"
)

// cabinet is a cluster whose configuration is kept in memory.
type cabinet struct {
	source.Source
	current   source.Configuration
	revisions []source.Revision
	impact    source.Impact
	// writes counts what was stored; refuse is answered to every write.
	writes int
	// cpus of the nodes.
	cpus   map[string]*extension.CPUBasicInfo
	refuse error
	// unkept is answered when a revision is to be kept.
	unkept error
}

var _ source.Configurator = (*cabinet)(nil)

func (c *cabinet) Describe(context.Context) (source.Cluster, error) {
	return source.Cluster{User: "eve"}, nil
}

func (c *cabinet) Configuration(context.Context, string) (*source.Configuration, error) {
	out := c.current
	out.Namespace, out.Name, out.Data = "koordinator-system", "slo-controller-config", maps.Clone(c.current.Data)
	return &out, nil
}

func (c *cabinet) ConfigurationNodes(context.Context) ([]corev1.Node, error) {
	return c.impact.Nodes, nil
}

func (c *cabinet) CPUs(context.Context) (map[string]*extension.CPUBasicInfo, error) {
	return c.cpus, nil
}

func (c *cabinet) Impact(context.Context) (*source.Impact, error) { return &c.impact, nil }

func (c *cabinet) WriteConfiguration(_ context.Context, write source.ConfigurationWrite) (*source.Configuration, error) {
	if c.refuse != nil && !write.Force {
		return nil, c.refuse
	}
	out := *write.Base
	out.Data, out.Exists, out.ResourceVersion = write.Data, true, fmt.Sprint(100+c.writes)
	if !write.DryRun {
		c.writes++
		c.current = out
	}
	return &out, nil
}

func (c *cabinet) Revisions(context.Context, string) ([]source.Revision, error) {
	return c.revisions, nil
}

func (c *cabinet) KeepRevision(_ context.Context, _ string, revision source.Revision) (source.Revision, error) {
	if c.unkept != nil {
		return revision, c.unkept
	}
	revision.Data = maps.Clone(revision.Data)
	revision.Number, revision.Time = int64(len(c.revisions)+1), testNow.Add(-time.Minute)
	c.revisions = append(c.revisions, revision)
	return revision, nil
}

const cabinetColocation = `{
  "enable": true,
  "cpuReclaimThresholdPercent": 60,
  "nodeConfigs": [
    {"name": "gold", "nodeSelector": {"matchLabels": {"pool": "gold"}}, "cpuReclaimThresholdPercent": 40}
  ]
}`

// newCabinet is three measured nodes with a configuration that has been changed once.
func newCabinet() *cabinet {
	base := cluster()
	batch := base.Pods[1]
	batch.Status.QOSClass = corev1.PodQOSBestEffort
	gold := makeNode("worker-3")
	gold.Labels = map[string]string{"pool": "gold"}
	c := &cabinet{
		current: source.Configuration{Exists: true, ResourceVersion: "7", Data: map[string]string{
			"colocation-config":         cabinetColocation,
			"resource-threshold-config": `{"clusterStrategy": {"enable": true, "memoryEvictThresholdPercent": 97}}`,
		}},
		impact: source.Impact{
			Nodes: []corev1.Node{makeNode("worker-1"), makeNode("worker-2"), gold}, Pods: []corev1.Pod{base.Pods[0], batch}, KnowsSLOs: true,
			Metrics: []slov1alpha1.NodeMetric{
				makeMetric("worker-1", 42*time.Second, "12", "20Gi",
					&slov1alpha1.PodMetricInfo{Namespace: "shop", Name: "web-0", PodUsage: slov1alpha1.ResourceMap{ResourceList: list("cpu", "4", "memory", "3Gi")}},
					&slov1alpha1.PodMetricInfo{Namespace: "spark", Name: "executor-1", PodUsage: slov1alpha1.ResourceMap{ResourceList: list("cpu", "6", "memory", "3Gi")}}),
				makeMetric("worker-2", 30*time.Second, "10", "20Gi"), makeMetric("worker-3", 30*time.Second, "5", "20Gi"),
			},
		},
	}
	config, _ := layering.Parse(c.current.Data)
	for i := range c.impact.Nodes {
		slo := slov1alpha1.NodeSLO{Spec: config.NodeSLOSpec(&c.impact.Nodes[i])}
		slo.Name = c.impact.Nodes[i].Name
		c.impact.SLOs = append(c.impact.SLOs, slo)
	}
	return c
}

func with(c *cabinet, edit ...func(*Options)) func(*Options) {
	return func(o *Options) {
		o.Connect = func(clientcmd.ClientConfig, Connection) (source.Source, error) { return c, nil }
		for _, e := range edit {
			e(o)
		}
	}
}

// answering is a person at the terminal who types a line.
func answering(line string) func(*Options) {
	return func(o *Options) {
		o.Streams.In = strings.NewReader(line)
		o.Terminal.Input = true
	}
}

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
		"plan-two-ways":         "config plan " + raise + " --revision 1",
		"plan-unknown-revision": "config plan --revision 9",
		"diff":                  "config diff " + raise,
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
		"bad-dry-run":           "config set " + raise + " --dry-run=client",
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
	return parseConfigFile([]byte(text))
}

func TestConfigAnswersAreObjects(t *testing.T) {
	c := newCabinet()
	c.revisions = []source.Revision{{Number: 1, Data: c.current.Data}}
	for line, wantKind := range map[string]string{
		"config get":  "ConfigSettingList",
		"config lint": "ConfigFindingList",
		"config plan colocation-config.enable=false": "ConfigPlanNodeList",
		"config diff colocation-config.enable=false": "ConfigSettingChangeList",
		"config history":                                  "ConfigRevisionList",
		"config explain system-config":                    "ConfigFieldList",
		"config set colocation-config.enable=false --yes": "ConfigPlanNodeList",
	} {
		t.Run(line, func(t *testing.T) {
			for _, format := range []string{"json", "yaml", "jsonpath={.kind}"} {
				got := run(t, cluster(), line+" -o "+format, with(c))
				if got.stdout == "" {
					t.Fatalf("%s: %s", format, got.stderr)
				}
				var object struct {
					APIVersion, Kind string
					Items            *[]struct{ Kind string }
				}
				if format != "json" {
					continue
				}
				if err := json.Unmarshal([]byte(got.stdout), &object); err != nil {
					t.Fatal(err)
				}
				if object.Kind != wantKind || object.APIVersion != "diagnostics.koordinator.sh/v1alpha1" || object.Items == nil {
					t.Errorf("got %+v", object)
				}
			}
		})
	}
}

func TestConfigCompletion(t *testing.T) {
	tests := map[string]struct{ line, want string }{
		"keys":   {"__complete config get co", "colocation-config.\n:6\n"},
		"fields": {"__complete config set cpu-burst-config.cpu", "cpu-burst-config.cpuBurstPercent=\tCPUBurstPercent of the limit can be saved up; 1000.\n:6\n"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := run(t, cluster(), tc.line, with(newCabinet())).stdout; got != tc.want {
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
