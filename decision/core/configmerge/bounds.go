package configmerge

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"koordinator.sh/koord/api/finding"
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
	// below is the code of a value that is too small; empty for ConfigOutOfRange.
	below finding.Code
}

func within(path string, minimum, maximum float64) bound {
	return bound{path: path, min: &minimum, max: &maximum}
}

func above(path string, minimum, maximum float64) bound {
	return bound{path: path, min: &minimum, max: &maximum, above: true}
}

func percent(path string) bound { return within(path, 0, 100) }

// evictionFrom bounds a threshold of eviction: what a node without pods uses is above many a lower one, so that a slip of a digit would
// empty every node.
func evictionFrom(path string, maximum float64) bound {
	out := within(path, leastEviction, maximum)
	out.below = finding.EvictionTooEarly
	return out
}

func flag(path string) bound { return within(path, 0, 1) }

func oneOf(path string, words ...string) bound { return bound{path: path, oneOf: words} }

// order says that of two values, when both are set, the first must be less than the second.
type order struct{ lower, upper string }

// priorityClasses and qosClasses are the words a host application may carry.
var (
	priorityClasses = []string{"koord-prod", "koord-mid", "koord-batch", "koord-free"}
	qosClasses      = []string{"LSE", "LSR", "LS", "BE", "SYSTEM"}
)

// Largest values of what upstream leaves open above: so much that no use of it is refused, and so little that a slip of the keyboard is.
const (
	// mostReclaim is a percentage of the node: more than all of it may be offered (KOORD0206 warns), and not any amount.
	mostReclaim = 200
	// mostRequested is a percentage of what the node offers.
	mostRequested = 1000
	day           = 24 * 60 * 60 // in seconds
	// mostAmount is a pebibyte, of bytes or of operations per second.
	mostAmount = 1 << 50
	// mostAmplification is the ratio by which a node is shown larger than it is.
	mostAmplification = 10
	// leastEviction is the lowest threshold of eviction, in percent.
	leastEviction = 10
)

// The bounds below are the validation tags of Koordinator's configuration types, and for keys that upstream leaves
// unchecked (host applications, normalization, amplification) the limits its consumers apply.

var colocationBounds = []bound{
	within("metricAggregateDurationSeconds", 1, day),
	within("metricReportIntervalSeconds", 1, day),
	oneOf("metricMemoryCollectPolicy", "usageWithoutPageCache", "usageWithHotPageCache", "usageWithPageCache"),
	within("cpuReclaimThresholdPercent", 0, mostReclaim),
	within("memoryReclaimThresholdPercent", 0, mostReclaim),
	// "request" is upstream's word for memory only; for cpu it is accepted and means usage.
	oneOf("cpuCalculatePolicy", "usage", "maxUsageRequest", "request"),
	oneOf("memoryCalculatePolicy", "usage", "request", "maxUsageRequest"),
	within("degradeTimeMinutes", 1, 7*24*60),
	within("updateTimeThresholdSeconds", 1, day),
	{path: "resourceDiffThreshold", min: new(0.0), max: new(1.0), above: true},
	oneOf("midReclaimMode", "static"),
	percent("midCPUThresholdPercent"),
	percent("midMemoryThresholdPercent"),
	percent("midUnallocatedPercent"),
	percent("midStaticCPUReservedPercent"),
	percent("midStaticMemoryReservedPercent"),
	within("batchCPUThresholdPercent", 0, mostReclaim),
	within("batchMemoryThresholdPercent", 0, mostReclaim),
	oneOf("extensions.predictor.batch", predictorProfiles()...),
	oneOf("extensions.predictor.mid", predictorProfiles()...),
	within("extensions.predictor.coldStartMinutes", 0, 24*60),
}

var thresholdBounds = []bound{
	percent("cpuSuppressThresholdPercent"),
	percent("cpuSuppressMinPercent"),
	oneOf("cpuSuppressPolicy", "cpuset", "cfsQuota"),
	evictionFrom("memoryEvictThresholdPercent", 100),
	percent("memoryEvictLowerPercent"),
	oneOf("cpuEvictPolicy", "evictByRealLimit", "evictByAllocatable"),
	percent("cpuEvictBESatisfactionUpperPercent"),
	percent("cpuEvictBESatisfactionLowerPercent"),
	percent("cpuEvictBEUsageThresholdPercent"),
	above("cpuEvictTimeWindowSeconds", 0, day),
	evictionFrom("cpuEvictThresholdPercent", 100),
	percent("cpuEvictLowerPercent"),
	evictionFrom("cpuAllocatableEvictThresholdPercent", mostRequested),
	within("cpuAllocatableEvictLowerPercent", 0, mostRequested),
	evictionFrom("memoryAllocatableEvictThresholdPercent", mostRequested),
	within("memoryAllocatableEvictLowerPercent", 0, mostRequested),
	within("allocatableEvictPriorityThreshold", math.MinInt32, 7999),
	within("evictEnabledPriorityThreshold", math.MinInt32, math.MaxInt32),
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
	within("memoryQOS.pageCacheLimitSize", 0, mostAmount),
	flag("memoryQOS.priorityEnable"),
	within("memoryQOS.priority", 0, 12),
	flag("memoryQOS.oomKillGroup"),
	percent("resctrlQOS.catRangeStartPercent"),
	percent("resctrlQOS.catRangeEndPercent"),
	percent("resctrlQOS.mbaPercent"),
	oneOf("blkioQOS.blocks.*.type", "device", "volumegroup", "podvolume"),
	within("ioCfg.readIOPS", 0, mostAmount),
	within("ioCfg.writeIOPS", 0, mostAmount),
	within("ioCfg.readBPS", 0, mostAmount),
	within("ioCfg.writeBPS", 0, mostAmount),
	within("ioCfg.readLatency", 0, mostAmount),
	within("ioCfg.writeLatency", 0, mostAmount),
	within("ioCfg.modelReadBPS", 0, mostAmount),
	within("ioCfg.modelWriteBPS", 0, mostAmount),
	within("ioCfg.modelReadSeqIOPS", 0, mostAmount),
	within("ioCfg.modelWriteSeqIOPS", 0, mostAmount),
	within("ioCfg.modelReadRandIOPS", 0, mostAmount),
	within("ioCfg.modelWriteRandIOPS", 0, mostAmount),
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
	within("cfsQuotaBurstPercent", 100, 10000),
	within("cfsQuotaBurstPeriodSeconds", -1, day),
	percent("sharePoolThresholdPercent"),
}

var systemBounds = []bound{
	above("minFreeKbytesFactor", 0, 10000),
	{path: "watermarkScaleFactor", min: new(0.0), max: new(400.0), above: true},
	flag("schedGroupIdentityEnabled"),
	within("schedIdleSaverWmark", 0, 1e9), // a second, in nanoseconds
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
	within("resourceAmplificationRatio.*", 0, mostAmplification),
}

// codeOf is the code of a value that check finds wrong.
func (b bound) codeOf(value any) finding.Code {
	number, ok := value.(json.Number)
	if !ok || b.below == "" || b.min == nil {
		return finding.ConfigOutOfRange
	}
	if amount, err := number.Float64(); err == nil && amount < *b.min {
		return b.below
	}
	return finding.ConfigOutOfRange
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
