package kernelfs

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// A file of block devices has a line for each device that something was said of.

// Attach gives the machine a block device, as major:minor. It has 254:0 from the beginning.
func (t *Tree) Attach(device string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.devices[device] = true
}

// Detach takes a block device away, and with it what was said of it.
func (t *Tree) Detach(device string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.devices, device)
	t.root.detach(device)
}

func (g *group) detach(device string) {
	for file, content := range g.content {
		if strings.HasPrefix(file, "io.") || strings.HasPrefix(file, "blkio.") {
			g.content[file] = say(content, device, "")
		}
	}
	for _, child := range g.children {
		child.detach(device)
	}
}

// target splits what is written for a device, which must exist.
func (t *Tree) target(value string) (device, body string, err error) {
	device, body, found := strings.Cut(value, " ")
	major, minor, isDevice := strings.Cut(device, ":")
	_, majorErr := strconv.ParseUint(major, 10, 32)
	_, minorErr := strconv.ParseUint(minor, 10, 32)
	switch {
	case !isDevice || majorErr != nil || minorErr != nil || !found:
		return "", "", syscall.EINVAL
	case !t.devices[device]:
		return "", "", syscall.ENODEV
	}
	return device, strings.TrimSpace(body), nil
}

// said returns what a file says of a device.
func said(content, device string) string {
	for line := range strings.SplitSeq(content, "\n") {
		if body, found := strings.CutPrefix(line, device+" "); found {
			return body
		}
	}
	return ""
}

// say replaces the line of a device, or removes it when there is nothing to say.
func say(content, device, body string) string {
	lines := slices.DeleteFunc(strings.Split(content, "\n"), func(line string) bool {
		return line == "" || strings.HasPrefix(line, device+" ")
	})
	if body != "" {
		lines = append(lines, device+" "+body)
	}
	return strings.Join(lines, "\n")
}

// setRate takes one rate of version 1, and zero for none. Operations are counted in 32 bits.
func setRate(file string, bits int) func(*Tree, *group, string) (string, error) {
	return func(t *Tree, g *group, value string) (string, error) {
		device, body, err := t.target(value)
		if err != nil {
			return "", err
		}
		rate, err := strconv.ParseUint(body, 10, 64)
		if err != nil {
			return "", syscall.EINVAL
		}
		if bits == 32 {
			rate = uint64(uint32(rate))
		}
		if rate == 0 {
			return say(g.content[file], device, ""), nil
		}
		return say(g.content[file], device, strconv.FormatUint(rate, 10)), nil
	}
}

// rates in the order in which version 2 shows them.
var rates = []string{"rbps", "wbps", "riops", "wiops"}

// setRates takes some rates of a device.
func setRates(t *Tree, g *group, value string) (string, error) {
	device, body, err := t.target(value)
	if err != nil {
		return "", err
	}
	now := fields(said(g.content["io.max"], device))
	for name, rate := range fields(body) {
		switch parsed, err := strconv.ParseUint(rate, 10, 64); {
		case !slices.Contains(rates, name):
			return "", syscall.EINVAL
		case rate == "max":
			now[name] = rate
		case err != nil || parsed == 1:
			return "", syscall.EINVAL
		case parsed == 0:
			return "", syscall.ERANGE
		case strings.HasSuffix(name, "iops") && parsed >= math.MaxUint32:
			now[name] = "max" // the kernel counts operations in 32 bits
		default:
			now[name] = rate
		}
	}
	var shown []string
	limited := false
	for _, name := range rates {
		if now[name] == "" {
			now[name] = "max"
		}
		limited = limited || now[name] != "max"
		shown = append(shown, name+"="+now[name])
	}
	if !limited {
		return say(g.content["io.max"], device, ""), nil
	}
	return say(g.content["io.max"], device, strings.Join(shown, " ")), nil
}

// setCostWeight takes weights of devices that are governed by cost, or were once.
func setCostWeight(file, cost string) func(*Tree, *group, string) (string, error) {
	return setDeviceWeight(file, 10000, func(t *Tree, device string) bool { return said(t.root.content[cost], device) != "" })
}

// setBFQWeight refuses every weight of a device: none here has the scheduler BFQ.
func setBFQWeight(file string) func(*Tree, *group, string) (string, error) {
	return setDeviceWeight(file, 1000, func(*Tree, string) bool { return false })
}

// setDeviceWeight takes the weight of a group, or one of a device that knows weights, "default" for that of the group.
func setDeviceWeight(file string, most uint64, knows func(t *Tree, device string) bool) func(*Tree, *group, string) (string, error) {
	return func(t *Tree, g *group, value string) (string, error) {
		own := strings.TrimSpace(strings.TrimPrefix(value, "default"))
		if !strings.Contains(value, ":") {
			if weight, err := strconv.ParseUint(own, 10, 64); err != nil || weight < 1 || weight > most {
				return "", syscall.EINVAL
			}
			_, devices, _ := strings.Cut(g.content[file], "\n")
			return strings.TrimSuffix("default "+own+"\n"+devices, "\n"), nil
		}
		device, body, err := t.target(value)
		if err != nil {
			return "", err
		}
		if !knows(t, device) {
			return "", syscall.EOPNOTSUPP
		}
		if body == "default" {
			return say(g.content[file], device, ""), nil
		}
		weight, err := strconv.ParseUint(body, 10, 64)
		if err != nil || weight < 1 || weight > most {
			return "", syscall.EINVAL
		}
		return say(g.content[file], device, body), nil
	}
}

// setTarget takes a latency in microseconds, and zero for none.
func setTarget(t *Tree, g *group, value string) (string, error) {
	device, body, err := t.target(value)
	if err != nil {
		return "", err
	}
	target := fields(body)["target"]
	latency, err := strconv.ParseUint(target, 10, 64)
	switch {
	case target == "max" || err == nil && latency == 0:
		return say(g.content["io.latency"], device, ""), nil
	case err != nil:
		return "", syscall.EINVAL
	}
	return say(g.content["io.latency"], device, "target="+target), nil
}

// setCost takes figures of a device. They are the user's whenever one is written. A device that was written once is shown for ever.
func setCost(file string, begin string) func(*Tree, *group, string) (string, error) {
	return func(t *Tree, g *group, value string) (string, error) {
		device, body, err := t.target(value)
		if err != nil {
			return "", err
		}
		names := strings.Fields(begin)
		now := fields(begin)
		maps.Copy(now, fields(said(g.content[file], device)))
		user := now["ctrl"] == "user"
		for word := range strings.FieldsSeq(body) {
			name, figure, _ := strings.Cut(word, "=")
			if user, err = setFigure(now, user, name, figure); err != nil {
				return "", err
			}
		}
		now["ctrl"] = map[bool]string{true: "user", false: "auto"}[user]
		for i, word := range names {
			name, _, _ := strings.Cut(word, "=")
			names[i] = name + "=" + now[name]
		}
		return say(g.content[file], device, strings.Join(names, " ")), nil
	}
}

// setFigure takes one figure, and returns whether figures are the user's from there on.
func setFigure(now map[string]string, user bool, name, figure string) (bool, error) {
	if _, known := now[name]; !known {
		return user, syscall.EINVAL
	}
	switch name {
	case "enable":
		now[name] = figure
		return user, nil
	case "ctrl":
		if figure != "auto" && figure != "user" {
			return user, syscall.EINVAL
		}
		return figure == "user", nil
	case "model":
		if figure != "linear" {
			return user, syscall.EINVAL
		}
		return user, nil
	}
	parsed, err := strconv.ParseFloat(figure, 64)
	if err != nil || parsed < 0 || strings.HasSuffix(name, "pct") && parsed > 100 {
		return user, syscall.EINVAL
	}
	now[name] = figure
	if _, isWhole := strconv.ParseUint(figure, 10, 64); isWhole != nil || strings.HasSuffix(name, "pct") {
		now[name] = fmt.Sprintf("%.2f", parsed)
	}
	return true, nil
}

// What a device begins with.
const (
	beginCost  = "enable=0 ctrl=auto rpct=0.00 rlat=0 wpct=0.00 wlat=0 min=1.00 max=10000.00"
	beginModel = "ctrl=auto model=linear rbps=174019176 rseqiops=41708 rrandiops=370 wbps=178075866 wseqiops=42705 wrandiops=378"
)

// fields reads "name=value name=value".
func fields(content string) map[string]string {
	out := map[string]string{}
	for word := range strings.FieldsSeq(content) {
		name, value, _ := strings.Cut(word, "=")
		out[name] = value
	}
	return out
}
