package extension

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// MaxCPUID is the largest CPU id accepted in a list: Linux is built for at most 8192 CPUs.
const MaxCPUID = 8191

// ParseCPUList parses a Linux CPU list such as "0-3,8,10-11" into sorted ids without repetition. The empty list is
// empty. Ids above MaxCPUID, descending ranges and lists over MaxAnnotationBytes are errors.
func ParseCPUList(list string) ([]int, error) {
	if len(list) > MaxAnnotationBytes {
		return nil, fmt.Errorf("cpu list: %d bytes exceed the limit of %d", len(list), MaxAnnotationBytes)
	}
	list = strings.TrimSpace(list)
	if list == "" {
		return nil, nil
	}
	// change is by how many ranges more, or fewer, than its predecessor a cpu is in: a long list of wide ranges costs no
	// more than its length.
	var change [MaxCPUID + 2]int32
	for part := range strings.SplitSeq(list, ",") {
		first, last, err := parseCPURange(strings.TrimSpace(part))
		if err != nil {
			return nil, fmt.Errorf("cpu list %.80q: %w", list, err)
		}
		change[first]++
		change[last+1]--
	}
	var cpus []int
	ranges := int32(0)
	for cpu := range MaxCPUID + 1 {
		if ranges += change[cpu]; ranges > 0 {
			cpus = append(cpus, cpu)
		}
	}
	return cpus, nil
}

func parseCPURange(part string) (first, last int, err error) {
	low, high, isRange := strings.Cut(part, "-")
	if first, err = parseCPU(low); err != nil {
		return 0, 0, err
	}
	if !isRange {
		return first, first, nil
	}
	if last, err = parseCPU(high); err != nil {
		return 0, 0, err
	}
	if last < first {
		return 0, 0, fmt.Errorf("range %.40q descends", part)
	}
	return first, last, nil
}

func parseCPU(text string) (int, error) {
	cpu, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("%.40q is not a cpu id", text)
	}
	if cpu > MaxCPUID {
		return 0, fmt.Errorf("cpu id %d is above %d", cpu, MaxCPUID)
	}
	return int(cpu), nil
}

// FormatCPUList formats ids as a Linux CPU list. Order and repetition do not matter.
func FormatCPUList(cpus []int) string {
	sorted := slices.Compact(slices.Sorted(slices.Values(cpus)))
	var b strings.Builder
	for start := 0; start < len(sorted); {
		end := start
		for end+1 < len(sorted) && sorted[end+1] == sorted[end]+1 {
			end++
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(sorted[start]))
		if end > start {
			b.WriteByte('-')
			b.WriteString(strconv.Itoa(sorted[end]))
		}
		start = end + 1
	}
	return b.String()
}
