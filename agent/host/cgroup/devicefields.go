package cgroup

import (
	"fmt"
	"strconv"
	"strings"
)

// Automatic is the value of a cost whose figures are the kernel's own.
const Automatic = "ctrl=auto"

// deviceFields are values of a device that a user sets, or that the kernel chooses.
type deviceFields struct {
	// toggle is the field that reports whether the device is governed at all; empty where there is none.
	toggle string
	// figures that a user gives, in the order in which they are written.
	figures string
}

// encode writes the figures only when they are the user's: the kernel takes them for the user's whenever they are written.
func (f deviceFields) encode(_ Version, value string) (string, error) {
	fields := fieldsOf(value)
	var out []string
	if f.toggle != "" {
		toggle := fields[f.toggle]
		if toggle != "0" && toggle != "1" {
			return "", fmt.Errorf("value %q does not say %s", clip(value), f.toggle)
		}
		out = append(out, f.toggle+"="+toggle)
	}
	switch fields["ctrl"] {
	case "auto":
		return strings.Join(append(out, Automatic), " "), nil
	case "user":
	default:
		return "", fmt.Errorf("value %q does not say whose its figures are", clip(value))
	}
	out = append(out, "ctrl=user")
	if f.toggle == "" {
		out = append(out, "model=linear")
	}
	for name := range strings.SplitSeq(f.figures, " ") {
		figure, err := figureOf(name, fields[name])
		if err != nil {
			return "", err
		}
		out = append(out, name+"="+figure)
	}
	return strings.Join(out, " "), nil
}

// decode leaves out what a user does not give. A device without a line is one that was never governed.
func (f deviceFields) decode(version Version, content string) (string, error) {
	if content == "" {
		content = Automatic
		if f.toggle != "" {
			content = f.toggle + "=0 " + Automatic
		}
	}
	return f.encode(version, content)
}

func (deviceFields) looser(string, string) bool { return false }

// figureOf writes a figure as the kernel shows it: percentiles with two decimals, all else as a whole number.
func figureOf(name, value string) (string, error) {
	if strings.HasSuffix(name, "pct") {
		percent, err := strconv.ParseFloat(value, 64)
		if err != nil || !(percent >= 0 && percent <= 100) {
			return "", fmt.Errorf("%s %q is not a percentage", name, clip(value))
		}
		return strconv.FormatFloat(percent, 'f', 2, 64), nil
	}
	figure, err := strconv.ParseUint(value, 10, 63)
	if err != nil {
		return "", fmt.Errorf("%s %q is not a number", name, clip(value))
	}
	return strconv.FormatUint(figure, 10), nil
}

// fieldsOf reads "name=value name=value".
func fieldsOf(content string) map[string]string {
	fields := map[string]string{}
	for word := range strings.FieldsSeq(content) {
		if name, value, found := strings.Cut(word, "="); found {
			fields[name] = value
		}
	}
	return fields
}
