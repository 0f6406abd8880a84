package qos

import (
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// followed says who follows the settings of a NodeSLO that begin with a path. CLASS stands for lsrClass, lsClass, beClass and
// systemClass; a path that names one of them counts before, and among those of either kind the longest.
var followed = map[string]string{
	"resourceUsedThresholdWithBE.enable":                                 "BECPUSuppress and whatever evicts",
	"resourceUsedThresholdWithBE.cpuSuppressThresholdPercent":            "BECPUSuppress",
	"resourceUsedThresholdWithBE.cpuSuppressMinPercent":                  "BECPUSuppress",
	"resourceUsedThresholdWithBE.cpuSuppressPolicy":                      "BECPUSuppress, BatchResource",
	"resourceUsedThresholdWithBE.memoryEvictThresholdPercent":            "BEMemoryEvict, MemoryEvict",
	"resourceUsedThresholdWithBE.memoryEvictLowerPercent":                "BEMemoryEvict, MemoryEvict",
	"resourceUsedThresholdWithBE.cpuEvictBESatisfactionUpperPercent":     "BECPUEvict",
	"resourceUsedThresholdWithBE.cpuEvictBESatisfactionLowerPercent":     "BECPUEvict",
	"resourceUsedThresholdWithBE.cpuEvictBEUsageThresholdPercent":        "BECPUEvict",
	"resourceUsedThresholdWithBE.cpuEvictTimeWindowSeconds":              "BECPUEvict",
	"resourceUsedThresholdWithBE.cpuEvictPolicy":                         "BECPUEvict",
	"resourceUsedThresholdWithBE.cpuEvictThresholdPercent":               "CPUEvict",
	"resourceUsedThresholdWithBE.cpuEvictLowerPercent":                   "CPUEvict",
	"resourceUsedThresholdWithBE.evictEnabledPriorityThreshold":          "CPUEvict, MemoryEvict",
	"resourceUsedThresholdWithBE.cpuAllocatableEvictThresholdPercent":    "CPUAllocatableEvict",
	"resourceUsedThresholdWithBE.cpuAllocatableEvictLowerPercent":        "CPUAllocatableEvict",
	"resourceUsedThresholdWithBE.memoryAllocatableEvictThresholdPercent": "MemoryAllocatableEvict",
	"resourceUsedThresholdWithBE.memoryAllocatableEvictLowerPercent":     "MemoryAllocatableEvict",
	"resourceUsedThresholdWithBE.allocatableEvictPriorityThreshold":      "CPUAllocatableEvict, MemoryAllocatableEvict",

	"resourceQOSStrategy.policies.cpuPolicy":    "GroupIdentity, CoreSched",
	"resourceQOSStrategy.policies.netQOSPolicy": "TCNetworkQoS, TerwayQoS",

	"resourceQOSStrategy.CLASS.cpuQOS.enable":        "GroupIdentity, CoreSched",
	"resourceQOSStrategy.CLASS.cpuQOS.groupIdentity": "GroupIdentity",
	"resourceQOSStrategy.CLASS.cpuQOS.schedIdle":     "CoreSched",
	"resourceQOSStrategy.CLASS.cpuQOS.coreExpeller":  "CoreSched",

	"resourceQOSStrategy.CLASS.memoryQOS.enable":                "CgroupReconcile",
	"resourceQOSStrategy.CLASS.memoryQOS.minLimitPercent":       "CgroupReconcile",
	"resourceQOSStrategy.CLASS.memoryQOS.lowLimitPercent":       "CgroupReconcile",
	"resourceQOSStrategy.CLASS.memoryQOS.throttlingPercent":     "CgroupReconcile",
	"resourceQOSStrategy.CLASS.memoryQOS.wmarkRatio":            "CgroupReconcile",
	"resourceQOSStrategy.CLASS.memoryQOS.wmarkScalePermill":     "CgroupReconcile",
	"resourceQOSStrategy.CLASS.memoryQOS.wmarkMinAdj":           "CgroupReconcile",
	"resourceQOSStrategy.CLASS.memoryQOS.pageCacheEnable":       "CgroupReconcile",
	"resourceQOSStrategy.CLASS.memoryQOS.pageCacheLimitPercent": "CgroupReconcile",
	"resourceQOSStrategy.CLASS.memoryQOS.pageCacheLimitSize":    "CgroupReconcile",
	"resourceQOSStrategy.CLASS.memoryQOS.pageCacheReclaimSync":  "CgroupReconcile",
	"resourceQOSStrategy.CLASS.memoryQOS.priorityEnable":        "CgroupReconcile",
	"resourceQOSStrategy.CLASS.memoryQOS.priority":              "CgroupReconcile",
	"resourceQOSStrategy.CLASS.memoryQOS.oomKillGroup":          "CgroupReconcile",

	"resourceQOSStrategy.CLASS.blkioQOS.enable":                              "BlkIOReconcile",
	"resourceQOSStrategy.CLASS.blkioQOS.blocks[].name":                       "BlkIOReconcile",
	"resourceQOSStrategy.CLASS.blkioQOS.blocks[].type":                       "BlkIOReconcile",
	"resourceQOSStrategy.CLASS.blkioQOS.blocks[].ioCfg.readIOPS":             "BlkIOReconcile",
	"resourceQOSStrategy.CLASS.blkioQOS.blocks[].ioCfg.writeIOPS":            "BlkIOReconcile",
	"resourceQOSStrategy.CLASS.blkioQOS.blocks[].ioCfg.readBPS":              "BlkIOReconcile",
	"resourceQOSStrategy.CLASS.blkioQOS.blocks[].ioCfg.writeBPS":             "BlkIOReconcile",
	"resourceQOSStrategy.CLASS.blkioQOS.blocks[].ioCfg.ioWeightPercent":      "BlkIOReconcile",
	"resourceQOSStrategy.cgroupRoot.blkioQOS":                                "BlkIOReconcile",
	"resourceQOSStrategy.CLASS.blkioQOS.blocks[].ioCfg.":                     ignoredAndTold,
	"resourceQOSStrategy.cgroupRoot.blkioQOS.blocks[].ioCfg.readIOPS":        ignoredAndTold,
	"resourceQOSStrategy.cgroupRoot.blkioQOS.blocks[].ioCfg.writeIOPS":       ignoredAndTold,
	"resourceQOSStrategy.cgroupRoot.blkioQOS.blocks[].ioCfg.readBPS":         ignoredAndTold,
	"resourceQOSStrategy.cgroupRoot.blkioQOS.blocks[].ioCfg.writeBPS":        ignoredAndTold,
	"resourceQOSStrategy.cgroupRoot.blkioQOS.blocks[].ioCfg.ioWeightPercent": ignoredAndTold,

	"resourceQOSStrategy.CLASS.resctrlQOS.enable":               "RdtResctrl",
	"resourceQOSStrategy.CLASS.resctrlQOS.catRangeStartPercent": "RdtResctrl",
	"resourceQOSStrategy.CLASS.resctrlQOS.catRangeEndPercent":   "RdtResctrl",
	"resourceQOSStrategy.CLASS.resctrlQOS.mbaPercent":           "RdtResctrl",
	"resourceQOSStrategy.systemClass.resctrlQOS":                ignoredAndTold,

	"resourceQOSStrategy.CLASS.networkQOS.enable":         "TCNetworkQoS, TerwayQoS",
	"resourceQOSStrategy.CLASS.networkQOS.ingressRequest": "TerwayQoS; told by TCNetworkQoS",
	"resourceQOSStrategy.CLASS.networkQOS.ingressLimit":   "TerwayQoS; told by TCNetworkQoS",
	"resourceQOSStrategy.CLASS.networkQOS.egressRequest":  "TCNetworkQoS, TerwayQoS",
	"resourceQOSStrategy.CLASS.networkQOS.egressLimit":    "TCNetworkQoS, TerwayQoS",
	"resourceQOSStrategy.lsrClass.networkQOS":             ignoredAndTold,
	"resourceQOSStrategy.cgroupRoot":                      ignoredAndTold,

	"cpuBurstStrategy.policy":                     "CPUBurst",
	"cpuBurstStrategy.cpuBurstPercent":            "CPUBurst",
	"cpuBurstStrategy.cfsQuotaBurstPercent":       "CPUBurst",
	"cpuBurstStrategy.cfsQuotaBurstPeriodSeconds": "CPUBurst",
	"cpuBurstStrategy.sharePoolThresholdPercent":  "CPUBurst",

	"systemStrategy.minFreeKbytesFactor":       "SystemConfig",
	"systemStrategy.watermarkScaleFactor":      "SystemConfig",
	"systemStrategy.memcgReapBackGround":       "SystemConfig",
	"systemStrategy.schedGroupIdentityEnabled": "SystemConfig",
	"systemStrategy.schedIdleSaverWmark":       "SystemConfig",
	"systemStrategy.schedFeatures":             "SystemConfig",
	"systemStrategy.pageCacheLimitEnabled":     "SystemConfig",
	"systemStrategy.totalNetworkBandwidth":     "TCNetworkQoS, TerwayQoS",

	"extensions":                    "third parties",
	"hostApplications[].name":       "BECPUSuppress, GroupIdentity, NodeMetric",
	"hostApplications[].priority":   "NodeMetric",
	"hostApplications[].qos":        "BECPUSuppress, GroupIdentity",
	"hostApplications[].cgroupPath": "BECPUSuppress, GroupIdentity, NodeMetric",
}

// ignoredAndTold is for settings that no feature follows, so that problems.ignored reports them.
const ignoredAndTold = "nobody; it is told"

// TestEverySettingIsFollowed, or somebody decided that it is not: a setting that is added to the NodeSLO has to be listed here.
func TestEverySettingIsFollowed(t *testing.T) {
	paths := settingsIn(reflect.TypeFor[slov1alpha1.NodeSLOSpec](), "")
	used := map[string]bool{}
	for _, path := range paths {
		by := followerOf(path)
		if by == "" {
			t.Errorf("nobody says who follows %s", path)
		}
		used[by] = true
	}
	for prefix := range followed {
		if !used[prefix] {
			t.Errorf("there is no setting %s, or others say more of it", prefix)
		}
	}
	if len(paths) < 100 {
		t.Errorf("%d settings are known, want all", len(paths))
	}
}

// followerOf is the path in followed that counts for a setting; empty without one.
func followerOf(path string) string {
	by := ""
	for prefix := range followed {
		general := strings.Contains(prefix, "CLASS")
		matches := slices.ContainsFunc([]string{"lsrClass", "lsClass", "beClass", "systemClass"}, func(class string) bool {
			return strings.HasPrefix(path, strings.Replace(prefix, "CLASS", class, 1))
		})
		switch wasGeneral := strings.Contains(by, "CLASS"); {
		case !matches:
		case by == "", wasGeneral && !general, wasGeneral == general && len(prefix) > len(by):
			by = prefix
		}
	}
	return by
}

// settingsIn lists the paths of all that can be set in a type, as JSON has them.
func settingsIn(of reflect.Type, at string) []string {
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	text, marshals := reflect.TypeFor[encoding.TextMarshaler](), reflect.TypeFor[json.Marshaler]()
	if of.Kind() == reflect.Slice && of.Elem().Kind() != reflect.Uint8 {
		return settingsIn(of.Elem(), at+"[]")
	}
	if of.Kind() != reflect.Struct || reflect.PointerTo(of).Implements(text) || reflect.PointerTo(of).Implements(marshals) {
		return []string{at}
	}
	var out []string
	for i := range of.NumField() {
		field := of.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "" && field.Anonymous:
			out = append(out, settingsIn(field.Type, at)...)
		case at == "":
			out = append(out, settingsIn(field.Type, name)...)
		default:
			out = append(out, settingsIn(field.Type, at+"."+name)...)
		}
	}
	slices.Sort(out)
	return out
}
