package cgroup

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"koordinator.sh/koord/decision/core/cpuset"
)

// form is how the values of a setting are written.
type form interface {
	encode(version Version, value string) (string, error)
	decode(version Version, content string) (string, error)
	looser(a, b string) bool
}

// joiner is a form whose values are not all in one order: what lets a cgroup have what either does is a third.
type joiner interface{ join(a, b string) string }

// number is an integer within bounds.
type number struct{ least, most int64 }

func (n number) encode(_ Version, value string) (string, error) {
	parsed, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return "", fmt.Errorf("value %q is not an integer", value)
	}
	if parsed < n.least || parsed > n.most {
		return "", fmt.Errorf("value %d is not within %d and %d", parsed, n.least, n.most)
	}
	return strconv.FormatInt(parsed, 10), nil
}

func (n number) decode(_ Version, content string) (string, error) {
	parsed, err := strconv.ParseInt(strings.TrimSpace(content), 10, 64)
	if err != nil {
		return "", fmt.Errorf("content %q is not an integer", clip(content))
	}
	return strconv.FormatInt(parsed, 10), nil
}

func (number) looser(a, b string) bool { return integer(a) > integer(b) }

// integer is for values that were decoded or encoded before.
func integer(value string) int64 {
	parsed, _ := strconv.ParseInt(value, 10, 64) // zero is what the kernel has for nothing
	return parsed
}

// amount is a number of bytes, of which the kernel keeps whole pages. All there is reads back as -1 where the amount is a limit, and
// as the largest number where it is a protection, so that no mistake below zero ever protects a cgroup whole.
type amount struct {
	limitable bool
	// negative limits are none in version 1; other files of that version know the largest number only.
	negative bool
}

// pageBytes is the size of the kernel's pages.
var pageBytes = int64(os.Getpagesize())

// maxBytes is what version 1 reads back for no limit on pages of 4 KiB, and allBytes the least that means it, on the
// largest pages there are.
const (
	maxBytes = math.MaxInt64 - 4095
	allBytes = maxBytes - 1<<16
)

func (m amount) encode(version Version, value string) (string, error) {
	parsed, err := strconv.ParseInt(value, 10, 64)
	switch {
	case err != nil:
		return "", fmt.Errorf("value %q is not an integer", value)
	case parsed < 0 && !m.limitable:
		return "", fmt.Errorf("value %d is negative", parsed)
	case parsed >= 0 && parsed < allBytes:
		return strconv.FormatInt(parsed-parsed%pageBytes, 10), nil
	case version == V2:
		return "max", nil
	case m.negative:
		return "-1", nil
	}
	return strconv.FormatInt(maxBytes, 10), nil
}

func (m amount) decode(_ Version, content string) (string, error) {
	content = strings.TrimSpace(content)
	if content == "max" || content == "-1" {
		return m.all(), nil
	}
	parsed, err := strconv.ParseUint(content, 10, 64)
	if err != nil {
		return "", fmt.Errorf("content %q is not a number of bytes", clip(content))
	}
	if parsed >= allBytes {
		return m.all(), nil
	}
	return strconv.FormatUint(parsed, 10), nil
}

// all is how all there is reads back.
func (m amount) all() string {
	if m.limitable {
		return "-1"
	}
	return strconv.FormatInt(maxBytes, 10)
}

func (amount) looser(a, b string) bool { return limitless(a) > limitless(b) }

// limitless orders limits: none is the largest.
func limitless(value string) uint64 {
	if n := integer(value); n >= 0 {
		return uint64(n)
	}
	return 1 << 63
}

// set is a list of CPUs or memory nodes.
type set struct{}

func (set) encode(_ Version, value string) (string, error) {
	parsed, err := cpuset.Parse(value)
	if err != nil {
		return "", err
	}
	if parsed.IsEmpty() {
		return "\n", nil // the kernel ignores a write of zero bytes
	}
	return parsed.String(), nil
}

func (set) decode(_ Version, content string) (string, error) {
	parsed, err := cpuset.Parse(strings.TrimSpace(content))
	if err != nil {
		return "", fmt.Errorf("content %q: %w", clip(content), err)
	}
	return parsed.String(), nil
}

func (set) looser(a, b string) bool {
	x, y := parsed(a), parsed(b)
	return !y.ContainsAll(x)
}

func (set) join(a, b string) string { return parsed(a).Union(parsed(b)).String() }

// parsed is for lists that were decoded or encoded before; what is none is empty.
func parsed(list string) cpuset.CPUSet {
	parsed, err := cpuset.Parse(list)
	if err != nil {
		return cpuset.CPUSet{}
	}
	return parsed
}

// clip keeps what is quoted in errors short.
func clip(content string) string { return content[:min(len(content), 64)] }
