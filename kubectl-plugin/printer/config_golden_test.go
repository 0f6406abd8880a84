package printer

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/config/configplan"
	"koordinator.sh/koord/decision/config/configuration"
)

// configViews are all that is printed of the configuration.
func configViews() map[string]view {
	return map[string]view{
		"config-findings": func(w io.Writer, o Options) error { return ConfigFindings(w, "slo.yaml", configFindingsFixture(), o) },
		"config-sound":    func(w io.Writer, o Options) error { return ConfigFindings(w, "slo.yaml", nil, o) },
		"config-plan": func(w io.Writer, o Options) error {
			return ConfigPlan(w, ConfigPlanView{Subject: "configmap/slo-controller-config", Plan: configPlanFixture(), Findings: append(configFindingsFixture()[:1], configPlanFixture().Findings()...)}, o)
		},
		"config-plan-nothing": func(w io.Writer, o Options) error {
			return ConfigPlan(w, ConfigPlanView{Subject: "configmap/slo-controller-config", Plan: &configplan.Plan{Summary: configplan.Summary{Nodes: 12}}}, o)
		},
		"config-plan-unknown": func(w io.Writer, o Options) error {
			return ConfigPlan(w, ConfigPlanView{Subject: "configmap/slo-controller-config", Plan: unknownPlanFixture()}, o)
		},
		"config-diff":    func(w io.Writer, o Options) error { return ConfigSettings(w, configPlanFixture().Settings, o) },
		"config-history": func(w io.Writer, o Options) error { return ConfigHistory(w, configHistoryFixture(), o) },
		"config-get":     func(w io.Writer, o Options) error { return ConfigSettingsInForce(w, configSettingsFixture(), o) },
		"config-fields":  func(w io.Writer, o Options) error { return ConfigFields(w, configFieldsFixture(), o) },
		"config-field":   func(w io.Writer, o Options) error { return ConfigFields(w, configFieldsFixture()[:1], o) },
	}
}

func TestConfigViewsAtEveryWidthInEveryStyle(t *testing.T) {
	styles := map[string]Style{"colour": {Color: true}, "plain": {}, "ascii": {ASCII: true}}
	for name, show := range configViews() {
		for _, width := range []int{0, 80, 120} {
			for styleName, style := range styles {
				variant := fmt.Sprintf("%d-%s", width, styleName)
				t.Run(name+"/"+variant, func(t *testing.T) {
					var out bytes.Buffer
					if err := show(&out, Options{Width: width, Style: style, Now: fixtureNow}); err != nil {
						t.Fatal(err)
					}
					golden(t, filepath.Join("testdata", name, variant+".txt"), out.String())
				})
			}
		}
	}
}

func TestConfigViewsKeepToTheTerminal(t *testing.T) {
	for name, show := range configViews() {
		t.Run(name, func(t *testing.T) {
			for width := 1; width <= 200; width++ {
				var plain, colour bytes.Buffer
				if err := show(&plain, Options{Width: width, Now: fixtureNow}); err != nil {
					t.Fatal(err)
				}
				if err := show(&colour, Options{Width: width, Now: fixtureNow, Style: Style{Color: true}}); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(plain.String(), ansi.Strip(colour.String())); diff != "" {
					t.Fatalf("at %d columns colour changes the text (-plain +colour):\n%s", width, diff)
				}
				for line := range strings.Lines(plain.String()) {
					if got := ansi.StringWidth(strings.TrimSuffix(line, "\n")); width >= 40 && got > width && !copyable(line) {
						t.Fatalf("a line of %d columns on a terminal of %d: %q", got, width, line)
					}
				}
			}
		})
	}
}

// TestConfigPlanNamesEveryNodeWhenWide: one that is not wide names the first of them.
func TestConfigPlanNamesEveryNodeWhenWide(t *testing.T) {
	plan := configPlanFixture()
	plan.Nodes, plan.Pods, plan.Groups[0].Nodes, plan.Groups[0].Names = plan.Nodes[:2], plan.Pods[:2], 12, workers(12)
	for _, width := range []int{0, 120} {
		var out bytes.Buffer
		if err := ConfigPlan(&out, ConfigPlanView{Subject: "configmap/slo-controller-config", Plan: plan}, Options{Width: width, Wide: true, Now: fixtureNow}); err != nil {
			t.Fatal(err)
		}
		golden(t, filepath.Join("testdata", "config-plan-wide", fmt.Sprintf("%d-plain.txt", width)), out.String())
	}
}

func TestConfigViewsInASCII(t *testing.T) {
	for name, show := range configViews() {
		var out bytes.Buffer
		if err := show(&out, Options{Width: 100, Style: Style{ASCII: true}, Now: fixtureNow}); err != nil {
			t.Fatal(err)
		}
		for i, r := range out.String() {
			if r > 127 {
				t.Fatalf("%s: %q at byte %d is not ASCII", name, r, i)
			}
		}
	}
}

func configFindingsFixture() []configuration.Finding {
	return []configuration.Finding{
		{
			Code: "KOORD0209", Severity: diagnosticsv1alpha1.SeverityWarning, Key: "colocation-config", Path: "nodeConfigs[0].cpuReclaimThresholdPercent", Line: 5, Column: 12,
			Layers: []string{"node strategy gold"}, Nodes: 12, Message: "cpuReclaimThresholdPercent (90) is above cpuSuppressThresholdPercent (65)",
			Cause: "Batch CPU is offered up to the first value and suppressed above the second, so pods get CPU that is then taken from them.",
			Evidence: []configuration.Evidence{
				{Key: "colocation-config", Path: "cpuReclaimThresholdPercent", Value: "90", Layer: "node strategy gold", Line: 5},
				{Key: "resource-threshold-config", Path: "cpuSuppressThresholdPercent", Value: "65", Layer: "default"},
			},
			Fix: "Lower colocation-config.cpuReclaimThresholdPercent, or see `koordctl config explain KEY`.",
		},
		{Code: "KOORD0201", Severity: diagnosticsv1alpha1.SeverityError, Key: "system-config", Line: 2, Column: 8, FileLine: 19, Message: "is not valid JSON: invalid\x1b[31m character"},
		{Code: "KOORD0207", Severity: diagnosticsv1alpha1.SeverityInfo, Key: "colocation", Message: "colocation is not a known key, did you mean colocation-config?"},
	}
}

func workers(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("worker-%d", i)
	}
	return out
}

func configPlanFixture() *configplan.Plan {
	setting := configplan.SettingChange{Key: "colocation-config", Path: "cpuReclaimThresholdPercent", Old: "60", New: "70", OldLayer: "cluster", NewLayer: "cluster", Field: "Node.status.allocatable"}
	added := configplan.SettingChange{Key: "resource-threshold-config", Path: "cpuEvictThresholdPercent", New: "90", NewLayer: "node strategy gold", Field: "NodeSLO.spec.resourceUsedThresholdWithBE.cpuEvictThresholdPercent"}
	batch := configplan.OfferChange{Resource: "kubernetes.io/batch-cpu", Unit: diagnosticsv1alpha1.MilliCPU, Old: new(int64(9000)), New: new(int64(12500)), Published: new(int64(9100)), Requested: new(int64(4000))}
	gone := configplan.OfferChange{Resource: "kubernetes.io/batch-memory", Unit: diagnosticsv1alpha1.Bytes, Old: new(int64(40 << 30)), Requested: new(int64(8 << 30)), Reason: "node colocation is disabled"}
	plan := &configplan.Plan{
		Summary: configplan.Summary{Nodes: 5000, NodesAffected: 4200, NodeSLOs: 1, PodsSuppressed: new(12), PodsEvicted: new(1), NodesOvercommitted: new(1), Quotas: new(1), NodesUnconverged: new(7),
			Offers: []configplan.OfferChange{batch, gone}},
		Settings:    []configplan.SettingChange{setting, added},
		Strategies:  []configplan.StrategyMatch{{Key: "colocation-config", Layer: "node strategy gold", After: new(12), Names: workers(12), Shadowed: 3}, {Key: "colocation-config", Layer: "cluster", Before: new(5000), After: new(4988)}},
		Groups:      []configplan.NodeGroup{{Nodes: 4199, Names: workers(4199), Changes: []configplan.SettingChange{setting}, Writes: []string{"Node"}}, {Nodes: 1, Names: []string{"worker-9"}, Changes: []configplan.SettingChange{setting, added}, Writes: []string{"Node", "NodeSLO"}}},
		Quotas:      []configplan.QuotaChange{{Namespace: "spark", Name: "etl", Shares: []configplan.ShareChange{{Resource: "kubernetes.io/batch-cpu", Old: 30000, New: 20000, Used: 25000, Overused: true}}}},
		Histogram:   []configplan.Bucket{{Resource: "kubernetes.io/batch-cpu", Label: "withdrawn", Nodes: 1}, {Resource: "kubernetes.io/batch-cpu", Label: "unchanged", Nodes: 800}, {Resource: "kubernetes.io/batch-cpu", Label: "+20..+50%", Nodes: 4199}},
		Unconverged: workers(7),
	}
	for i := range shownRows + 3 {
		change := batch
		if i == 0 {
			change = gone
		}
		plan.Nodes = append(plan.Nodes, configplan.NodeChange{Name: fmt.Sprintf("worker-%d", i), Offers: []configplan.OfferChange{change}})
		effect := configplan.PodEffect{Namespace: "spark", Name: fmt.Sprintf("executor-%d", i), Node: "worker-1", Effect: configplan.Suppressed, Feature: "BECPUSuppress", Reason: "best-effort pods use 8 cores, and 5.8 are left to them at 40%"}
		if i == 5 {
			effect.Effect, effect.Feature, effect.Reason = configplan.Evicted, "BEMemoryEvict", "78% of the memory is used; pods are evicted from 75%"
		}
		plan.Pods = append(plan.Pods, effect)
	}
	return plan
}

// unknownPlanFixture is a plan for a user who may list neither pods nor NodeMetrics.
func unknownPlanFixture() *configplan.Plan {
	plan := configPlanFixture()
	plan.Pods, plan.Quotas, plan.Strategies = nil, nil, nil
	s := &plan.Summary
	s.PodsSuppressed, s.PodsEvicted, s.NodesOvercommitted, s.Quotas, s.NodesUnconverged = nil, nil, nil, nil, nil
	s.OffersUnknown, s.Offers = []corev1.ResourceName{"kubernetes.io/batch-cpu"}, s.Offers[1:]
	plan.Histogram = []configplan.Bucket{{Resource: "kubernetes.io/batch-cpu", Label: "unchanged", Nodes: 800}, {Resource: "kubernetes.io/batch-cpu", Label: "not known", Nodes: 4200}}
	plan.Nodes = plan.Nodes[:1]
	plan.Nodes[0].Offers[0].Requested = nil
	return plan
}

func configHistoryFixture() []ConfigRevision {
	changes := configPlanFixture().Settings
	return []ConfigRevision{
		{Number: 9, Time: fixtureNow.Add(-50 * time.Hour), Cause: "found: changed in another way"},
		{Number: 10, Time: fixtureNow.Add(-3 * time.Minute), User: "eve", Cause: "koordctl config set colocation-config.cpuReclaimThresholdPercent=70", InForce: true, Changes: changes},
	}
}

func configSettingsFixture() []configuration.SettingInForce {
	return []configuration.SettingInForce{
		{Key: "colocation-config", Path: "enable", Value: "true", Layer: "cluster", Strategy: "cluster"},
		{Key: "colocation-config", Path: "metricAggregatePolicy.durations", Value: `["5m0s","10m0s","30m0s"]`, Layer: "default", Strategy: "cluster"},
		{Key: "cpu-normalization-config", Path: `ratioModel["Xeon 8.0"].baseRatio`, Value: "1.2", Layer: "node strategy 配置", Strategy: "node strategy 配置"},
	}
}

func configFieldsFixture() []configuration.FieldDocumentation {
	return []configuration.FieldDocumentation{
		{Key: "resource-threshold-config", Path: "memoryEvictThresholdPercent", Kind: "whole number", Range: "at least 0 and at most 100", Default: "70",
			Description: "MemoryEvictThresholdPercent is the memory usage above which pods are evicted; 70.", Feature: "BEMemoryEvict or MemoryEvict (off by default)"},
		{Key: "resource-threshold-config", Path: "cpuEvictTimeWindowSeconds", Kind: "whole number", Range: "greater than 0", Description: "CPUEvictTimeWindowSeconds is the window the use is averaged over."},
	}
}
