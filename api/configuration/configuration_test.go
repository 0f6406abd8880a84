package configuration

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/api/extension"
)

// documents are complete values of the ConfigMap, every field set.
var documents = map[string]string{
	ColocationConfigKey: `{"enable":true,"metricAggregateDurationSeconds":300,"metricReportIntervalSeconds":60,
		"metricAggregatePolicy":{"durations":["5m0s","10m0s"]},"metricMemoryCollectPolicy":"usageWithPageCache",
		"cpuReclaimThresholdPercent":60,"cpuCalculatePolicy":"maxUsageRequest","memoryReclaimThresholdPercent":65,
		"memoryCalculatePolicy":"request","degradeTimeMinutes":15,"updateTimeThresholdSeconds":300,"resourceDiffThreshold":0.1,
		"midReclaimMode":"static","midCPUThresholdPercent":90,"midMemoryThresholdPercent":80,"midUnallocatedPercent":5,
		"midStaticCPUReservedPercent":10,"midStaticMemoryReservedPercent":11,"batchCPUThresholdPercent":70,
		"batchMemoryThresholdPercent":71,"extensions":{"vendor":{"a":[1]}},
		"nodeConfigs":[{"name":"arm","nodeSelector":{"matchLabels":{"arch":"arm64"}},"enable":false,"cpuReclaimThresholdPercent":50}]}`,
	ResourceThresholdConfigKey: `{"clusterStrategy":{"enable":true,"cpuSuppressThresholdPercent":65},
		"nodeStrategies":[{"name":"a","nodeSelector":{"matchLabels":{"a":"b"}},"cpuSuppressPolicy":"cfsQuota","memoryEvictThresholdPercent":80}]}`,
	ResourceQOSConfigKey: `{"clusterStrategy":{"policies":{"cpuPolicy":"coreSched"},"beClass":{"memoryQOS":{"enable":true,"wmarkRatio":95}}},
		"nodeStrategies":[{"name":"a","nodeSelector":{},"lsClass":{"cpuQOS":{"enable":true,"groupIdentity":2}}}]}`,
	CPUBurstConfigKey: `{"clusterStrategy":{"policy":"auto","cfsQuotaBurstPeriodSeconds":-1,"sharePoolThresholdPercent":50},
		"nodeStrategies":[{"name":"a","nodeSelector":{"matchLabels":{"a":"b"}},"policy":"none"}]}`,
	SystemConfigKey: `{"clusterStrategy":{"minFreeKbytesFactor":100,"totalNetworkBandwidth":"10G"},
		"nodeStrategies":[{"name":"a","nodeSelector":{"matchLabels":{"a":"b"}},"schedFeatures":{"ID_ABSOLUTE_EXPEL":true}}]}`,
	HostApplicationConfigKey: `{"applications":[{"name":"nginx","priority":"koord-prod","qos":"LS","cgroupPath":{"base":"CgroupRoot","relativePath":"nginx"}}],
		"nodeConfigs":[{"name":"a","nodeSelector":{"matchLabels":{"a":"b"}},"applications":[{"name":"x"}]}]}`,
	CPUNormalizationConfigKey: `{"enable":true,"defaultRatio":1.1,"ratioModel":{"Xeon":{"baseRatio":1.5,"hyperThreadEnabledRatio":1,"turboEnabledRatio":1.65,"hyperThreadTurboEnabledRatio":1.1}},
		"nodeConfigs":[{"name":"a","nodeSelector":{"matchLabels":{"a":"b"}},"enable":false}]}`,
	ResourceAmplificationConfigKey: `{"enable":true,"resourceAmplificationRatio":{"cpu":1.5},
		"nodeConfigs":[{"name":"a","nodeSelector":{"matchLabels":{"a":"b"}},"resourceAmplificationRatio":{"memory":2}}]}`,
}

// decoders re-encodes the document of a key.
var decoders = map[string]func(map[string]string) ([]byte, error){
	ColocationConfigKey:            reencode[ColocationCfg](ColocationConfigKey),
	ResourceThresholdConfigKey:     reencode[ResourceThresholdCfg](ResourceThresholdConfigKey),
	ResourceQOSConfigKey:           reencode[ResourceQOSCfg](ResourceQOSConfigKey),
	CPUBurstConfigKey:              reencode[CPUBurstCfg](CPUBurstConfigKey),
	SystemConfigKey:                reencode[SystemCfg](SystemConfigKey),
	HostApplicationConfigKey:       reencode[HostApplicationCfg](HostApplicationConfigKey),
	CPUNormalizationConfigKey:      reencode[CPUNormalizationCfg](CPUNormalizationConfigKey),
	ResourceAmplificationConfigKey: reencode[ResourceAmplificationCfg](ResourceAmplificationConfigKey),
}

func reencode[T any](key string) func(map[string]string) ([]byte, error) {
	return func(data map[string]string) ([]byte, error) {
		value, err := Decode[T](data, key)
		if err != nil {
			return nil, err
		}
		return json.Marshal(value)
	}
}

func TestDocumentsSurviveDecodingAndEncoding(t *testing.T) {
	for _, key := range Keys() {
		encoded, err := decoders[key](documents)
		if err != nil {
			t.Errorf("%s: %v", key, err)
			continue
		}
		var want, got any
		if err := json.Unmarshal([]byte(documents[key]), &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(encoded, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s changed (-want,+got):\n%s", key, diff)
		}
	}
}

func TestDecodeNamesTheKey(t *testing.T) {
	if cfg, err := Decode[ColocationCfg](nil, ColocationConfigKey); cfg != nil || err != nil {
		t.Errorf("absent key: %v, %v", cfg, err)
	}
	for name, value := range map[string]string{
		"broken":      `{"enable":`,
		"wrong type":  `{"enable":"yes"}`,
		"too large":   strings.Repeat(" ", MaxConfigBytes+1),
		"huge number": `{"resourceDiffThreshold":1e-99999}`,
	} {
		_, err := Decode[ColocationCfg](map[string]string{ColocationConfigKey: value}, ColocationConfigKey)
		if err == nil || !strings.Contains(err.Error(), `"colocation-config"`) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestDefaults(t *testing.T) {
	colocation := `{"enable":false,"metricAggregateDurationSeconds":300,"metricReportIntervalSeconds":60,"metricAggregatePolicy":{"durations":["5m0s","10m0s","30m0s"]},"metricMemoryCollectPolicy":"usageWithoutPageCache","cpuReclaimThresholdPercent":60,"cpuCalculatePolicy":"usage","memoryReclaimThresholdPercent":65,"memoryCalculatePolicy":"usage","degradeTimeMinutes":15,"updateTimeThresholdSeconds":300,"resourceDiffThreshold":0.1,"midCPUThresholdPercent":100,"midMemoryThresholdPercent":100,"midUnallocatedPercent":0,"midStaticCPUReservedPercent":0,"midStaticMemoryReservedPercent":0}`
	tests := map[string]struct {
		value any
		want  string
	}{
		"colocation": {DefaultColocationStrategy(), colocation},
		"threshold":  {DefaultResourceThresholdStrategy(), `{"enable":false,"cpuSuppressThresholdPercent":65,"cpuSuppressPolicy":"cpuset","memoryEvictThresholdPercent":70,"cpuEvictPolicy":"evictByRealLimit"}`},
		"burst":      {DefaultCPUBurstStrategy(), `{"policy":"none","cpuBurstPercent":1000,"cfsQuotaBurstPercent":300,"cfsQuotaBurstPeriodSeconds":-1,"sharePoolThresholdPercent":50}`},
		"system":     {DefaultSystemStrategy(), `{"totalNetworkBandwidth":"0"}`},
		"LS":         {DefaultResourceQOS(extension.QoSLS), `{"cpuQOS":{"enable":false,"groupIdentity":2,"schedIdle":0,"coreExpeller":true},"memoryQOS":{"enable":false,"minLimitPercent":0,"lowLimitPercent":0,"throttlingPercent":0,"wmarkRatio":95,"wmarkScalePermill":20,"wmarkMinAdj":-25,"priorityEnable":0,"priority":0,"oomKillGroup":0},"resctrlQOS":{"enable":false,"catRangeStartPercent":0,"catRangeEndPercent":100,"mbaPercent":100}}`},
		"BE":         {DefaultResourceQOS(extension.QoSBE), `{"cpuQOS":{"enable":false,"groupIdentity":-1,"schedIdle":0,"coreExpeller":false},"memoryQOS":{"enable":false,"minLimitPercent":0,"lowLimitPercent":0,"throttlingPercent":0,"wmarkRatio":95,"wmarkScalePermill":20,"wmarkMinAdj":50,"priorityEnable":0,"priority":0,"oomKillGroup":0},"resctrlQOS":{"enable":false,"catRangeStartPercent":0,"catRangeEndPercent":30,"mbaPercent":100}}`},
		"SYSTEM":     {DefaultResourceQOS(extension.QoSSystem), `{"cpuQOS":{"enable":false,"groupIdentity":0,"schedIdle":0,"coreExpeller":false},"memoryQOS":{"enable":false,"minLimitPercent":0,"lowLimitPercent":0,"throttlingPercent":0,"wmarkRatio":0,"wmarkScalePermill":50,"wmarkMinAdj":0,"priorityEnable":0,"priority":0,"oomKillGroup":0},"resctrlQOS":{"enable":false,"catRangeStartPercent":0,"catRangeEndPercent":100,"mbaPercent":100}}`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := json.Marshal(tc.value)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, string(got)); diff != "" {
				t.Errorf("unexpected defaults (-want,+got):\n%s", diff)
			}
		})
	}
	if got := DefaultResourceQOS(extension.QoSNone); got != nil {
		t.Errorf("a class without settings has %v", got)
	}
}

// FuzzDecode feeds one value to every document; none may panic, and what is accepted must survive encoding.
func FuzzDecode(f *testing.F) {
	for _, document := range documents {
		f.Add(document)
	}
	f.Add(`{"nodeStrategies":[null,{}]}`)
	f.Add(`{"clusterStrategy":null,"totalNetworkBandwidth":"1e-99999999"}`)
	f.Fuzz(func(t *testing.T, value string) {
		for _, key := range Keys() {
			once, err := decoders[key](map[string]string{key: value})
			if err != nil {
				continue
			}
			twice, err := decoders[key](map[string]string{key: string(once)})
			if err != nil || (string(once) != string(twice) && string(once) != "null") {
				t.Fatalf("%s: %q became %q, %v", key, once, twice, err)
			}
		}
	})
}
