package layering

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// bound is the range of one value. Its path is matched against the end of the value's path inside a strategy, segment by
// segment; "*" stands for any one segment.
type bound struct {
	path string
	// min and max are inclusive unless above is set, which makes min exclusive. nil means unbounded.
	min, max *float64
	above    bool
	// oneOf lists the allowed words; the empty word always passes, because it means the value is not set.
	oneOf []string
}

func from(path string, minimum float64) bound { return bound{path: path, min: &minimum} }

func above(path string, minimum float64) bound { return bound{path: path, min: &minimum, above: true} }

func within(path string, minimum, maximum float64) bound {
	return bound{path: path, min: &minimum, max: &maximum}
}

func percent(path string) bound { return within(path, 0, 100) }

func flag(path string) bound { return within(path, 0, 1) }

func oneOf(path string, words ...string) bound { return bound{path: path, oneOf: words} }

// order says that of two values, when both are set, the first must be less than the second.
type order struct{ lower, upper string }

// priorityClasses and qosClasses are the words a host application may carry.
var (
	priorityClasses = []string{"koord-prod", "koord-mid", "koord-batch", "koord-free"}
	qosClasses      = []string{"LSE", "LSR", "LS", "BE", "SYSTEM"}
)

// The bounds below are the validation tags of Koordinator's configuration types, and for keys that upstream leaves
// unchecked (host applications, normalization, amplification) the limits its consumers apply.

var colocationBounds = []bound{
	from("metricAggregateDurationSeconds", 1),
	from("metricReportIntervalSeconds", 1),
	oneOf("metricMemoryCollectPolicy", "usageWithoutPageCache", "usageWithHotPageCache", "usageWithPageCache"),
	from("cpuReclaimThresholdPercent", 0),
	from("memoryReclaimThresholdPercent", 0),
	// "request" is upstream's word for memory only; for cpu it is accepted and means usage.
	oneOf("cpuCalculatePolicy", "usage", "maxUsageRequest", "request"),
	oneOf("memoryCalculatePolicy", "usage", "request", "maxUsageRequest"),
	from("degradeTimeMinutes", 1),
	from("updateTimeThresholdSeconds", 1),
	{path: "resourceDiffThreshold", min: new(0.0), max: new(1.0), above: true},
	oneOf("midReclaimMode", "static"),
	percent("midCPUThresholdPercent"),
	percent("midMemoryThresholdPercent"),
	percent("midUnallocatedPercent"),
	percent("midStaticCPUReservedPercent"),
	percent("midStaticMemoryReservedPercent"),
	from("batchCPUThresholdPercent", 0),
	from("batchMemoryThresholdPercent", 0),
	oneOf("extensions.predictor.batch", predictorProfiles()...),
	oneOf("extensions.predictor.mid", predictorProfiles()...),
	within("extensions.predictor.coldStartMinutes", 0, 24*60),
}

var thresholdBounds = []bound{
	percent("cpuSuppressThresholdPercent"),
	percent("cpuSuppressMinPercent"),
	oneOf("cpuSuppressPolicy", "cpuset", "cfsQuota"),
	percent("memoryEvictThresholdPercent"),
	percent("memoryEvictLowerPercent"),
	oneOf("cpuEvictPolicy", "evictByRealLimit", "evictByAllocatable"),
	percent("cpuEvictBESatisfactionUpperPercent"),
	percent("cpuEvictBESatisfactionLowerPercent"),
	percent("cpuEvictBEUsageThresholdPercent"),
	above("cpuEvictTimeWindowSeconds", 0),
	percent("cpuEvictThresholdPercent"),
	percent("cpuEvictLowerPercent"),
	from("cpuAllocatableEvictThresholdPercent", 0),
	from("cpuAllocatableEvictLowerPercent", 0),
	from("memoryAllocatableEvictThresholdPercent", 0),
	from("memoryAllocatableEvictLowerPercent", 0),
	{path: "allocatableEvictPriorityThreshold", max: new(7999.0)},
}

var thresholdOrders = []order{
	{"memoryEvictLowerPercent", "memoryEvictThresholdPercent"},
	{"cpuEvictBESatisfactionLowerPercent", "cpuEvictBESatisfactionUpperPercent"},
	{"cpuEvictLowerPercent", "cpuEvictThresholdPercent"},
	{"cpuAllocatableEvictLowerPercent", "cpuAllocatableEvictThresholdPercent"},
	{"memoryAllocatableEvictLowerPercent", "memoryAllocatableEvictThresholdPercent"},
}

var qosBounds = []bound{
	oneOf("policies.cpuPolicy", "groupIdentity", "coreSched"),
	oneOf("policies.netQOSPolicy", "tc", "terway-qos"),
	within("cpuQOS.groupIdentity", -1, 2),
	flag("cpuQOS.schedIdle"),
	percent("memoryQOS.minLimitPercent"),
	percent("memoryQOS.lowLimitPercent"),
	percent("memoryQOS.throttlingPercent"),
	percent("memoryQOS.wmarkRatio"),
	within("memoryQOS.wmarkScalePermill", 1, 1000),
	within("memoryQOS.wmarkMinAdj", -25, 50),
	flag("memoryQOS.pageCacheEnable"),
	flag("memoryQOS.pageCacheReclaimSync"),
	percent("memoryQOS.pageCacheLimitPercent"),
	from("memoryQOS.pageCacheLimitSize", 0),
	flag("memoryQOS.priorityEnable"),
	within("memoryQOS.priority", 0, 12),
	flag("memoryQOS.oomKillGroup"),
	percent("resctrlQOS.catRangeStartPercent"),
	percent("resctrlQOS.catRangeEndPercent"),
	percent("resctrlQOS.mbaPercent"),
	oneOf("blkioQOS.blocks.*.type", "device", "volumegroup", "podvolume"),
	from("ioCfg.readIOPS", 0),
	from("ioCfg.writeIOPS", 0),
	from("ioCfg.readBPS", 0),
	from("ioCfg.writeBPS", 0),
	within("ioCfg.ioWeightPercent", 1, 100),
	percent("ioCfg.readLatencyPercent"),
	percent("ioCfg.writeLatencyPercent"),
	percent("networkQOS.ingressRequest"),
	percent("networkQOS.ingressLimit"),
	percent("networkQOS.egressRequest"),
	percent("networkQOS.egressLimit"),
}

var qosOrders = []order{
	{"lsrClass.resctrlQOS.catRangeStartPercent", "lsrClass.resctrlQOS.catRangeEndPercent"},
	{"lsClass.resctrlQOS.catRangeStartPercent", "lsClass.resctrlQOS.catRangeEndPercent"},
	{"beClass.resctrlQOS.catRangeStartPercent", "beClass.resctrlQOS.catRangeEndPercent"},
}

var burstBounds = []bound{
	oneOf("policy", "none", "cpuBurstOnly", "cfsQuotaBurstOnly", "auto"),
	within("cpuBurstPercent", 0, 10000),
	from("cfsQuotaBurstPercent", 100),
	from("cfsQuotaBurstPeriodSeconds", -1),
	percent("sharePoolThresholdPercent"),
}

var systemBounds = []bound{
	above("minFreeKbytesFactor", 0),
	{path: "watermarkScaleFactor", min: new(0.0), max: new(400.0), above: true},
	flag("memcgReapBackGround"),
	flag("pageCacheLimitEnabled"),
}

var hostApplicationBounds = []bound{
	oneOf("applications.*.priority", priorityClasses...),
	oneOf("applications.*.qos", qosClasses...),
	oneOf("applications.*.cgroupPath.base", "CgroupRoot", "Kubepods", "KubepodsBurstable", "KubepodsBesteffort"),
}

var normalizationBounds = []bound{
	within("defaultRatio", 1, 5),
	within("ratioModel.*.baseRatio", 1, 5),
	within("ratioModel.*.hyperThreadEnabledRatio", 1, 5),
	within("ratioModel.*.turboEnabledRatio", 1, 5),
	within("ratioModel.*.hyperThreadTurboEnabledRatio", 1, 5),
}

var amplificationBounds = []bound{
	from("resourceAmplificationRatio.*", 0),
}

// check returns what is wrong with a value, or an empty string.
func (b bound) check(value any) string {
	switch value := value.(type) {
	case string:
		if len(b.oneOf) > 0 && value != "" && !slices.Contains(b.oneOf, value) {
			return fmt.Sprintf("must be one of %s, is %s", strings.Join(b.oneOf, ", "), describe(value))
		}
	case json.Number:
		number, err := value.Float64()
		if err != nil || len(b.oneOf) > 0 {
			return ""
		}
		tooSmall := b.min != nil && (number < *b.min || b.above && number == *b.min)
		tooLarge := b.max != nil && number > *b.max
		if tooSmall || tooLarge {
			return fmt.Sprintf("must be %s, is %s", b.span(), value)
		}
	}
	return ""
}

// span says which numbers the bound allows.
func (b bound) span() string {
	lower := "at least"
	if b.above {
		lower = "greater than"
	}
	number := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
	switch {
	case b.min == nil:
		return "at most " + number(*b.max)
	case b.max == nil:
		return lower + " " + number(*b.min)
	default:
		return fmt.Sprintf("%s %s and at most %s", lower, number(*b.min), number(*b.max))
	}
}

// matches reports whether the bound's path ends the given segments.
func (b bound) matches(segments []string) bool {
	pattern := strings.Split(b.path, ".")
	if len(pattern) > len(segments) {
		return false
	}
	tail := segments[len(segments)-len(pattern):]
	for i, want := range pattern {
		if want != "*" && want != tail[i] {
			return false
		}
	}
	return true
}
