package cgroup

import (
	"fmt"
	"strconv"
	"strings"
)

// quota is CPU time in a period, in microseconds; -1 for no limit.
type quota struct{}

// leastQuota is the smallest that the kernel takes, in microseconds.
const leastQuota = 1000

func (quota) encode(version Version, value string) (string, error) {
	parsed, err := strconv.ParseInt(value, 10, 64)
	switch {
	case err != nil:
		return "", fmt.Errorf("value %q is not an integer", value)
	case parsed < 0 && version == V2:
		return "max", nil
	case parsed < 0:
		return "-1", nil
	case parsed < leastQuota:
		return "", fmt.Errorf("quota of %d us is below %d us", parsed, leastQuota)
	}
	return strconv.FormatInt(parsed, 10), nil
}

func (quota) decode(version Version, content string) (string, error) {
	content = strings.TrimSpace(content)
	if version == V2 {
		content, _, _ = strings.Cut(content, " ") // the period follows
		if content == "max" {
			return "-1", nil
		}
	}
	parsed, err := strconv.ParseInt(content, 10, 64)
	if err != nil {
		return "", fmt.Errorf("content %q is not a quota", clip(content))
	}
	return strconv.FormatInt(max(parsed, -1), 10), nil
}

func (quota) looser(a, b string) bool { return limitless(a) > limitless(b) }

// weight is a share of CPU time against that of neighbours, from 2 to 262144, which version 2 calls weight and counts from 1
// to 10000. No order between parent and child holds for it.
type weight struct{}

const (
	leastShares, mostShares = 2, 262144
	mostWeight              = 10000
)

// IdleShares is what shares of an idle cgroup read as, whatever they were before. No weight of version 2 reads so: an idle cgroup
// has none there, which is not the least.
const IdleShares = "3"

func (weight) encode(version Version, value string) (string, error) {
	shares, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return "", fmt.Errorf("value %q is not an integer", value)
	}
	shares = min(max(shares, leastShares), mostShares) // as the kernel does
	if version == V2 {
		return strconv.FormatInt(1+(shares-leastShares)*(mostWeight-1)/(mostShares-leastShares), 10), nil
	}
	return strconv.FormatInt(shares, 10), nil
}

func (weight) decode(version Version, content string) (string, error) {
	read, err := strconv.ParseInt(strings.TrimSpace(content), 10, 64)
	if err != nil || read < 0 || read > mostShares {
		return "", fmt.Errorf("content %q is not a weight", clip(content))
	}
	if version == V2 && read == 0 {
		return IdleShares, nil
	}
	if version == V2 {
		// The smallest shares that are written as this weight.
		read = leastShares + ((read-1)*(mostShares-leastShares)+mostWeight-2)/(mostWeight-1)
	}
	return strconv.FormatInt(read, 10), nil
}

func (weight) looser(string, string) bool { return false }

// idle is 1 for a cgroup that runs only when no other wants to. Not being idle is looser.
type idle struct{ number }

func (idle) encode(_ Version, value string) (string, error) {
	if value != "0" && value != "1" {
		return "", fmt.Errorf("value %q is neither 0 nor 1", value)
	}
	return value, nil
}

func (idle) looser(a, b string) bool { return integer(a) < integer(b) }
