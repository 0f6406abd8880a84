package sysctl

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

func TestOf(t *testing.T) {
	const gib = int64(1) << 30
	value := func(v int64) *int64 { return &v }
	tests := map[string]struct {
		strategy     *slov1alpha1.SystemStrategy
		total        int64
		want         map[string]string
		wantProblems []string
	}{
		"nothing is set":                   {&slov1alpha1.SystemStrategy{}, 512 * gib, nil, nil},
		"no strategy":                      {nil, 512 * gib, nil, nil},
		"one percent of half a tebibyte":   {&slov1alpha1.SystemStrategy{MinFreeKbytesFactor: value(100)}, 512 * gib, map[string]string{MinFreeKbytes: "5368709"}, nil},
		"at least ten mebibytes":           {&slov1alpha1.SystemStrategy{MinFreeKbytesFactor: value(1)}, gib, map[string]string{MinFreeKbytes: "10240"}, nil},
		"at most ten gibibytes":            {&slov1alpha1.SystemStrategy{MinFreeKbytesFactor: value(10_000)}, 512 * gib, map[string]string{MinFreeKbytes: "10485760"}, nil},
		"a product beyond all bounds":      {&slov1alpha1.SystemStrategy{MinFreeKbytesFactor: value(math.MaxInt64)}, math.MaxInt64, map[string]string{MinFreeKbytes: "10485760"}, nil},
		"a factor that keeps nothing":      {&slov1alpha1.SystemStrategy{MinFreeKbytesFactor: value(0)}, gib, nil, []string{MinFreeKbytes}},
		"memory that is not known":         {&slov1alpha1.SystemStrategy{MinFreeKbytesFactor: value(100)}, 0, nil, []string{MinFreeKbytes}},
		"a watermark":                      {&slov1alpha1.SystemStrategy{WatermarkScaleFactor: value(150)}, gib, map[string]string{WatermarkScaleFactor: "150"}, nil},
		"a watermark below its bounds":     {&slov1alpha1.SystemStrategy{WatermarkScaleFactor: value(1)}, gib, map[string]string{WatermarkScaleFactor: "10"}, nil},
		"a watermark above its bounds":     {&slov1alpha1.SystemStrategy{WatermarkScaleFactor: value(1000)}, gib, map[string]string{WatermarkScaleFactor: "400"}, nil},
		"what is on or off":                {&slov1alpha1.SystemStrategy{MemcgReapBackGround: value(1), SchedGroupIdentityEnabled: value(0), PageCacheLimitEnabled: value(1)}, gib, map[string]string{MemcgReapBackground: "1", SchedGroupIdentityEnabled: "0", PageCacheLimitEnabled: "1"}, nil},
		"neither on nor off":               {&slov1alpha1.SystemStrategy{SchedGroupIdentityEnabled: value(2)}, gib, nil, []string{SchedGroupIdentityEnabled}},
		"an idle saver":                    {&slov1alpha1.SystemStrategy{SchedIdleSaverWmark: value(0)}, gib, map[string]string{SchedIdleSaverWmark: "0"}, nil},
		"an idle saver below zero":         {&slov1alpha1.SystemStrategy{SchedIdleSaverWmark: value(-1)}, gib, nil, []string{SchedIdleSaverWmark}},
		"a feature that is no name at all": {&slov1alpha1.SystemStrategy{SchedFeatures: map[string]bool{"X\nNO_ALL": true}}, gib, nil, []string{SchedFeatures}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := Of(tc.strategy, tc.total)
			var settings map[string]string
			for _, setting := range got.Settings {
				if settings == nil {
					settings = map[string]string{}
				}
				settings[setting.Name] = setting.Value
			}
			var problems []string
			for _, problem := range got.Problems {
				problems = append(problems, problem.Name)
			}
			if diff := cmp.Diff(tc.want, settings); diff != "" {
				t.Errorf("settings (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.wantProblems, problems); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFeaturesComeInOrder(t *testing.T) {
	got := Of(&slov1alpha1.SystemStrategy{SchedFeatures: map[string]bool{"ID_RESCUE_EXPELLEE": true, "ID_ABSOLUTE_EXPEL": false, "ID_EXPELLER_SHARE_CORE": true}}, 1)
	want := []Setting{{Name: SchedFeatures, Value: "NO_ID_ABSOLUTE_EXPEL"}, {Name: SchedFeatures, Value: "ID_EXPELLER_SHARE_CORE"}, {Name: SchedFeatures, Value: "ID_RESCUE_EXPELLEE"}}
	if diff := cmp.Diff(want, got.Settings); diff != "" {
		t.Errorf("features (-want +got):\n%s", diff)
	}
}
