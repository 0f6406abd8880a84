package cgroup

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Settings of block devices. A file of theirs has a line for each device; On says which one is meant. Their values are:
// for a limit a number, 0 for none; for a weight a number, 0 for that of the group; for a target microseconds, 0 for none; for
// a cost the fields that are written, of which Automatic stands for the kernel's own.
var (
	IOReadBPS   = Setting{Name: "blkio.throttle.read_bps_device", controller: "blkio", v2: "io.max", keyed: true, form: deviceLimit{"rbps", mostBPS}}
	IOWriteBPS  = Setting{Name: "blkio.throttle.write_bps_device", controller: "blkio", v2: "io.max", keyed: true, form: deviceLimit{"wbps", mostBPS}}
	IOReadIOPS  = Setting{Name: "blkio.throttle.read_iops_device", controller: "blkio", v2: "io.max", keyed: true, form: deviceLimit{"riops", mostIOPS}}
	IOWriteIOPS = Setting{Name: "blkio.throttle.write_iops_device", controller: "blkio", v2: "io.max", keyed: true, form: deviceLimit{"wiops", mostIOPS}}
	// IOWeight is among the siblings of a group while the device is governed by cost, IOBFQWeight while its scheduler is BFQ.
	IOWeight    = Setting{Name: "blkio.cost.weight", controller: "blkio", v2: "io.weight", keyed: true, form: deviceWeight{10000}}
	IOBFQWeight = Setting{Name: "blkio.bfq.weight_device", controller: "blkio", v2: "io.bfq.weight", keyed: true, form: deviceWeight{1000}}
	// IOLatency is a target that is protected against siblings with a larger one or none.
	IOLatency = Setting{Name: "io.latency", v2: "io.latency", onlyV2: true, keyed: true, form: deviceTarget{}}
	// IOCost and IOModel are of the root alone.
	IOCost  = Setting{Name: "blkio.cost.qos", controller: "blkio", v2: "io.cost.qos", keyed: true, form: deviceFields{"enable", "rpct rlat wpct wlat"}}
	IOModel = Setting{Name: "blkio.cost.model", controller: "blkio", v2: "io.cost.model", keyed: true, form: deviceFields{"", "rbps rseqiops rrandiops wbps wseqiops wrandiops"}}
)

// Bounds of limits per second. The kernel counts operations in 32 bits, with the largest for none.
const (
	mostBPS  = math.MaxInt64
	mostIOPS = math.MaxUint32 - 1
)

// On returns the setting for one device, as major:minor.
func (s Setting) On(device string) Setting {
	s.device = device
	return s
}

// deviceName is how devices are written.
var deviceName = regexp.MustCompile(`^[0-9]{1,10}:[0-9]{1,10}$`)

// line returns what a file says of a device; empty when nothing.
func line(content, device string) string {
	for text := range strings.SplitSeq(content, "\n") {
		if rest, found := strings.CutPrefix(strings.TrimSpace(text), device+" "); found {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

// deviceLimit bounds a rate.
type deviceLimit struct {
	// field of version 2.
	field string
	most  uint64
}

func (l deviceLimit) encode(version Version, value string) (string, error) {
	parsed, err := strconv.ParseUint(value, 10, 63)
	if err != nil {
		return "", fmt.Errorf("value %q is not a rate", clip(value))
	}
	parsed = min(parsed, l.most)
	switch {
	case version == V1:
		return strconv.FormatUint(parsed, 10), nil
	case parsed == 0:
		return l.field + "=max", nil
	}
	return l.field + "=" + strconv.FormatUint(max(parsed, 2), 10), nil // the kernel takes no single one
}

func (l deviceLimit) decode(version Version, content string) (string, error) {
	if version == V2 {
		content = fieldsOf(content)[l.field]
	}
	if content == "" || content == "max" {
		return "0", nil
	}
	parsed, err := strconv.ParseUint(content, 10, 63)
	if err != nil {
		return "", fmt.Errorf("content %q is not a rate", clip(content))
	}
	parsed = min(parsed, l.most)
	if version == V2 {
		parsed = max(parsed, 2)
	}
	return strconv.FormatUint(parsed, 10), nil
}

func (deviceLimit) looser(string, string) bool { return false }

// deviceWeight is a weight from 1.
type deviceWeight struct{ most int64 }

func (w deviceWeight) encode(_ Version, value string) (string, error) {
	parsed, err := strconv.ParseInt(value, 10, 64)
	switch {
	case err != nil || parsed < 0 || parsed > w.most:
		return "", fmt.Errorf("value %q is not a weight up to %d", clip(value), w.most)
	case parsed == 0:
		return "default", nil
	}
	return strconv.FormatInt(parsed, 10), nil
}

func (w deviceWeight) decode(_ Version, content string) (string, error) {
	if content == "" || content == "default" {
		return "0", nil
	}
	parsed, err := strconv.ParseInt(content, 10, 64)
	if err != nil || parsed < 0 || parsed > w.most {
		return "", fmt.Errorf("content %q is not a weight up to %d", clip(content), w.most)
	}
	return strconv.FormatInt(parsed, 10), nil
}

func (deviceWeight) looser(string, string) bool { return false }

// mostTarget is what the kernel, which counts nanoseconds, can keep of a latency in microseconds.
const mostTarget = math.MaxInt64 / 1000

// deviceTarget is a latency in microseconds.
type deviceTarget struct{}

func (deviceTarget) encode(_ Version, value string) (string, error) {
	parsed, err := strconv.ParseInt(value, 10, 64)
	if err != nil || parsed < 0 || parsed > mostTarget {
		return "", fmt.Errorf("value %q is not a latency", clip(value))
	}
	return "target=" + strconv.FormatInt(parsed, 10), nil
}

func (deviceTarget) decode(_ Version, content string) (string, error) {
	target := fieldsOf(content)["target"]
	if target == "" || target == "max" {
		return "0", nil
	}
	parsed, err := strconv.ParseInt(target, 10, 64)
	if err != nil || parsed < 0 || parsed > mostTarget {
		return "", fmt.Errorf("content %q is not a latency", clip(content))
	}
	return strconv.FormatInt(parsed, 10), nil
}

func (deviceTarget) looser(string, string) bool { return false }
