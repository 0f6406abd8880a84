package resctrl

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Schemata are the values of each cache by resource: masks of L3, L3CODE and L3DATA, and figures of MB.
type Schemata map[string]map[int]uint64

// ParseSchemata reads the content of a schemata file, or lines as they are written to it. The kernel pads names and values.
// Resources that are not known are left out.
func ParseSchemata(content string) (Schemata, error) {
	out := Schemata{}
	for line := range strings.Lines(content) {
		name, values, found := strings.Cut(strings.TrimSpace(line), ":")
		if !found && name == "" {
			continue
		}
		base := 16
		switch name {
		case "L3", "L3CODE", "L3DATA":
		case "MB":
			base = 10
		default:
			continue
		}
		parsed := map[int]uint64{}
		for part := range strings.SplitSeq(values, ";") {
			id, value, _ := strings.Cut(part, "=")
			cache, err := strconv.Atoi(strings.TrimSpace(id))
			if err != nil || cache < 0 {
				return nil, fmt.Errorf("parse schemata: %.40q names no cache", part)
			}
			if parsed[cache], err = strconv.ParseUint(strings.TrimSpace(value), base, 64); err != nil {
				return nil, fmt.Errorf("parse schemata: %.40q has no value", part)
			}
		}
		out[name] = parsed
	}
	return out, nil
}

// Has reports whether all values of other are those of s.
func (s Schemata) Has(other Schemata) bool {
	for name, values := range other {
		for cache, value := range values {
			if is, known := s[name][cache]; !known || is != value {
				return false
			}
		}
	}
	return true
}

// Caches lists the ids of the caches of a resource, in ascending order.
func (s Schemata) Caches(resource string) []int { return slices.Sorted(maps.Keys(s[resource])) }
