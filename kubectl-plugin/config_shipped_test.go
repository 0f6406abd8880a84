package kubectlplugin

import (
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	decision "koordinator.sh/koord/decision/config/configuration"
	"koordinator.sh/koord/decision/descheduling/loopguard"
)

// shippedChart is what the chart renders with its own values, which a test of the chart holds.
const shippedChart = "../deploy/release/testdata/default.golden.yaml"

func TestWhatTheChartShipsHasNoFinding(t *testing.T) {
	got := run(t, cluster(), "config lint --fail-on info -f "+shippedChart)
	if got.code != 0 || !strings.Contains(got.stdout+got.stderr, "no findings") {
		t.Errorf("exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
}

// TestWhatTheChartShipsIsReadWhole: the test above proves nothing of configurations that are not found in the file.
func TestWhatTheChartShipsIsReadWhole(t *testing.T) {
	text, err := os.ReadFile(shippedChart)
	if err != nil {
		t.Fatal(err)
	}
	document, err := parseComponents(text)
	if err != nil {
		t.Fatal(err)
	}
	in := decision.Input{Data: document.data}
	if err := (&configFile{components: document.components}).judgeBy(&in); err != nil {
		t.Fatal(err)
	}
	if in.LoadAware == nil || len(in.Descheduler) == 0 || len(in.Data) == 0 {
		t.Fatalf("scheduler %v, descheduler %v, %d keys", in.LoadAware, in.Descheduler, len(in.Data))
	}
	// The agent of a fresh install does not evict for memory. Its threshold is neither a choice without effect nor, once the feature
	// is enabled, below the thresholds of the others.
	for name, features := range map[string]map[string]bool{"by default": {}, "with evictions": {"BEMemoryEvict": true}} {
		in.Features = features
		if found := decision.Validate(in); len(found) > 0 {
			t.Errorf("features %s: %+v", name, found)
		}
	}
	// They agree without the tolerance for defaults too, and for each way to move pods.
	scheduler := loopguard.Scheduler{Enabled: true, Usage: map[corev1.ResourceName]float64{}}
	for name, percent := range in.LoadAware.UsageThresholds {
		scheduler.Usage[name] = float64(percent)
	}
	for _, d := range in.Descheduler {
		for _, planned := range []bool{false, true} {
			d.Planned = planned
			found := loopguard.Check(loopguard.Input{
				Agent: loopguard.Agent{Enabled: true, CPUSuppress: new(65.0), MemoryEvict: new(85.0)}, Descheduler: d.Descheduler, Scheduler: scheduler,
			})
			if len(found) > 0 {
				t.Errorf("planned %t: %+v", planned, found)
			}
		}
	}
}

func TestConfigurationsOfComponentsInAFile(t *testing.T) {
	const scheduler = `apiVersion: v1
kind: ConfigMap
metadata: {name: koord-scheduler-config}
data:
  koord-scheduler-config: |
    kind: KubeSchedulerConfiguration
    profiles:
    - pluginConfig:
      - {name: LoadAwareScheduling, args: {usageThresholds: {cpu: 65, memory: 95}}}
`
	const descheduler = `apiVersion: v1
kind: ConfigMap
metadata: {name: koord-descheduler-config}
data:
  koord-descheduler-config: |
    kind: DeschedulerConfiguration
    profiles:
    - plugins: {balance: {enabled: [{name: LowNodeLoad}]}}
      pluginConfig:
      - {name: LowNodeLoad, args: {lowThresholds: {memory: 55}, highThresholds: {memory: 80}}}
`
	tests := map[string]struct {
		text     string
		wantCode int
		want     string
	}{
		"both": {scheduler + "---\n" + descheduler, ExitFindings, "KOORD0218"},
		"the descheduler's alone is held against the scheduler's defaults": {descheduler, ExitFindings, "LoadAwareScheduling.usageThresholds.memory (95%) is above LowNodeLoad.highThresholds.memory (80%)"},
		"the scheduler's alone":   {scheduler, 0, "no findings"},
		"one that cannot be used": {strings.Replace(descheduler, "memory: 80", "memory: many", 1), 1, "koord-descheduler-config"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			file := t.TempDir() + "/config.yaml"
			if err := os.WriteFile(file, []byte(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
			got := run(t, cluster(), "config lint --fail-on warning -f "+file)
			if got.code != test.wantCode || !strings.Contains(got.stdout+got.stderr, test.want) {
				t.Errorf("exit code %d, want %d with %q\n%s%s", got.code, test.wantCode, test.want, got.stdout, got.stderr)
			}
		})
	}
}

// TestConfigurationsOfComponentsInTheCluster: the cluster's descheduler removes pods above 80% of memory, and its scheduler has the
// built-in threshold of 95%.
func TestConfigurationsOfComponentsInTheCluster(t *testing.T) {
	const want = "LoadAwareScheduling.usageThresholds.memory (95%) is above LowNodeLoad.highThresholds.memory (80%)"
	for _, line := range []string{"config lint", "config plan resource-threshold-config.cpuSuppressThresholdPercent=60"} {
		if got := run(t, skewedCluster(), line); !strings.Contains(got.stdout, "KOORD0218") || !strings.Contains(strings.Join(strings.Fields(got.stdout), " "), want) {
			t.Errorf("%s: exit code %d, want a finding\n%s%s", line, got.code, got.stdout, got.stderr)
		}
	}
}
