package schedulerconfig

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheSchedulersConfigurationIsFoundInItsConfigMap(t *testing.T) {
	const head = "kind: KubeSchedulerConfiguration\nprofiles:\n- schedulerName: koord-scheduler\n"
	args := func(memory string) string {
		return "  pluginConfig:\n  - name: Other\n    args: {x: 1}\n  - name: LoadAwareScheduling\n    args: {usageThresholds: {memory: " + memory + "}}\n"
	}
	tests := map[string]struct {
		data       map[string]string
		wantNames  []string
		wantMemory int64
		wantErr    string
	}{
		"no key":                                  {},
		"something else":                          {data: map[string]string{"a": "kind: Policy"}},
		"a profile without arguments":             {data: map[string]string{"a": head}, wantNames: []string{"koord-scheduler"}},
		"a profile without a name":                {data: map[string]string{"a": head + "- {}\n"}, wantNames: []string{"koord-scheduler", "default-scheduler"}},
		"a profile with arguments":                {data: map[string]string{"a": head + args("80")}, wantNames: []string{"koord-scheduler"}, wantMemory: 80},
		"the first of two profiles with them":     {data: map[string]string{"a": head + "- schedulerName: b\n" + args("70") + "- schedulerName: c\n" + args("60")}, wantNames: []string{"koord-scheduler", "b", "c"}, wantMemory: 70},
		"behind a key that is about other things": {data: map[string]string{"a": "{}", "b": head + args("80")}, wantNames: []string{"koord-scheduler"}, wantMemory: 80},
		"text that cannot be read":                {data: map[string]string{"a": "{"}, wantErr: `read key "a"`},
		"arguments that cannot be used":           {data: map[string]string{"a": head + args("180")}, wantErr: "usageThresholds"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Read(test.data)
			if (err != nil) != (test.wantErr != "") || err != nil && !strings.Contains(err.Error(), test.wantErr) {
				t.Fatalf("error %v, want %q", err, test.wantErr)
			}
			if diff := cmp.Diff(test.wantNames, got.Profiles); diff != "" {
				t.Errorf("profiles (-want +got):\n%s", diff)
			}
			memory := int64(0)
			if got.LoadAware != nil {
				memory = got.LoadAware.UsageThresholds["memory"]
			}
			if memory != test.wantMemory {
				t.Errorf("the threshold for memory is %d, want %d", memory, test.wantMemory)
			}
		})
	}
}

func TestTheArgumentsAreThoseOfTheFirstProfileThatHasThem(t *testing.T) {
	got, err := Read(map[string]string{"config.yaml": `kind: KubeSchedulerConfiguration
profiles:
- schedulerName: plain
- schedulerName: koord-scheduler
  pluginConfig:
  - name: LoadAwareScheduling
    args: {usageThresholds: {cpu: 70}}
  - name: ElasticQuota
    args: {enableMinQuotaScale: false, guaranteeUsage: true}
- schedulerName: other
  pluginConfig:
  - name: ElasticQuota
    args: {guaranteeUsage: false}
`})
	if err != nil || got.LoadAware == nil || got.Quotas == nil {
		t.Fatalf("got %+v, %v", got, err)
	}
	if options := got.Quotas.Options(); options.ScaleMin || !options.GuaranteeUsage || got.LoadAware.UsageThresholds["cpu"] != 70 {
		t.Errorf("quotas %+v, load-aware %+v", options, got.LoadAware)
	}
	refused := map[string]string{"a": "kind: KubeSchedulerConfiguration\nprofiles:\n- pluginConfig:\n  - {name: ElasticQuota, args: {delayEvictTime: -1s}}\n"}
	if _, err := Read(refused); err == nil {
		t.Error("arguments that the scheduler refuses are taken")
	}
}
