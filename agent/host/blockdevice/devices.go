package blockdevice

import (
	"fmt"
	"slices"
	"strings"

	"koordinator.sh/koord/agent/host/files"
)

// Devices of a machine, as major:minor. The kernel bounds whole disks, so that a partition stands for the disk that it is on.
type Devices struct {
	// Names are files in /dev, those of partitions and of mapped devices included.
	Names map[string]string
	// Groups are the volume groups whose volumes lie on one disk alone.
	Groups map[string]string
	// disks by the number of each device, their own or that of a partition on them.
	disks map[string]string
	// sysfs are the names of disks in /sys/block by number.
	sysfs map[string]string
}

// Find finds the devices that the machine has. An error says that the list of them cannot be read.
func Find(proc, sys files.FS) (Devices, error) {
	out := Devices{Names: map[string]string{}, Groups: map[string]string{}, disks: map[string]string{}, sysfs: map[string]string{}}
	content, err := proc.Read("partitions", nil)
	if err != nil {
		return out, fmt.Errorf("list block devices: %w", err)
	}
	numbers := numbersOf(string(content))
	names := make([]string, 0, len(numbers))
	for name := range numbers {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		disk := numbers[diskOf(sys, name, names)]
		out.Names["/dev/"+strings.ReplaceAll(name, "!", "/")], out.disks[numbers[name]] = disk, disk
		out.sysfs[numbers[name]] = name
	}
	onDisks := map[string]map[string]bool{}
	for _, name := range names {
		mapped := word(sys, "block/"+name+"/dm/name")
		if mapped == "" {
			continue
		}
		out.Names["/dev/mapper/"+mapped] = numbers[name]
		if !strings.HasPrefix(word(sys, "block/"+name+"/dm/uuid"), "LVM-") {
			continue
		}
		group, volume := split(mapped)
		out.Names["/dev/"+group+"/"+volume] = numbers[name]
		if onDisks[group] == nil {
			onDisks[group] = map[string]bool{}
		}
		for _, below := range names {
			if sys.Exists("block/" + name + "/slaves/" + below) {
				onDisks[group][out.disks[numbers[below]]] = true
			}
		}
	}
	for group, disks := range onDisks {
		for disk := range disks {
			if len(disks) == 1 {
				out.Groups[group] = disk
			}
		}
	}
	return out, nil
}

// numbersOf reads /proc/partitions: major, minor, blocks and name. Names are those of /sys, which has no slashes in them.
func numbersOf(content string) map[string]string {
	numbers := map[string]string{}
	for line := range strings.Lines(content) {
		fields := strings.Fields(line)
		if len(fields) == 4 && isNumber(fields[0]) && isNumber(fields[1]) {
			numbers[strings.ReplaceAll(fields[3], "/", "!")] = fields[0] + ":" + fields[1]
		}
	}
	return numbers
}

func isNumber(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

// diskOf returns the disk that a device is a partition of, and otherwise the device.
func diskOf(sys files.FS, name string, names []string) string {
	if !sys.Exists("class/block/" + name + "/partition") {
		return name
	}
	for _, disk := range names {
		if disk != name && strings.HasPrefix(name, disk) && sys.Exists("block/"+disk+"/"+name+"/partition") {
			return disk
		}
	}
	return name
}

// split separates the names of a volume group and of a logical volume, in which dashes are doubled.
func split(mapped string) (group, volume string) {
	for i := 0; i < len(mapped); i++ {
		if mapped[i] != '-' {
			continue
		}
		if i+1 < len(mapped) && mapped[i+1] == '-' {
			i++
			continue
		}
		return strings.ReplaceAll(mapped[:i], "--", "-"), strings.ReplaceAll(mapped[i+1:], "--", "-")
	}
	return mapped, ""
}

// word reads a file of /sys with one word; empty when there is none.
func word(sys files.FS, path string) string {
	content, err := sys.Read(path, nil)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(content))
}

// WeighsByBFQ reports whether a device has the scheduler BFQ, which has its own weights.
func (d Devices) WeighsByBFQ(sys files.FS, device string) bool {
	return strings.Contains(word(sys, "block/"+d.sysfs[device]+"/queue/scheduler"), "[bfq]")
}
