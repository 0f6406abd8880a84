package blockdevice

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/agent/host/files"
)

// Volumes finds the volumes of pods that are file systems on their own devices, by pod and by the name of the PersistentVolume, or of
// the volume itself where the pod has it without one.
func (d Devices) Volumes(proc files.FS) (map[types.UID]map[string]string, error) {
	content, err := proc.Read("1/mountinfo", nil)
	if err != nil {
		return nil, fmt.Errorf("list mounts: %w", err)
	}
	out := map[types.UID]map[string]string{}
	d.mounts(string(content), func(point, disk string) {
		uid, name, found := volumeAt(point)
		if !found {
			return
		}
		if out[uid] == nil {
			out[uid] = map[string]string{}
		}
		out[uid][name] = disk
	})
	return out, nil
}

// Mounts returns the disks below what a process has mounted, by the mount point as the process sees it. What lies on no block device
// is left out.
func (d Devices) Mounts(proc files.FS, pid int) (map[string]string, error) {
	content, err := proc.Read(strconv.Itoa(pid)+"/mountinfo", nil)
	if err != nil {
		return nil, fmt.Errorf("list mounts of process %d: %w", pid, err)
	}
	out := map[string]string{}
	d.mounts(string(content), func(point, disk string) { out[point] = disk })
	return out, nil
}

// mounts calls a function for each mount with a block device below it, in the order in which they were mounted.
func (d Devices) mounts(content string, do func(point, disk string)) {
	for line := range strings.Lines(content) {
		// number, parent, device, root, mount point, ...
		fields := strings.Fields(line)
		if len(fields) < 5 || strings.HasPrefix(fields[2], "0:") {
			continue // no block device is below
		}
		device := fields[2]
		if disk, known := d.disks[device]; known {
			device = disk
		}
		do(unescape(fields[4]), device)
	}
}

// volumeAt reads where kubelet mounts volumes: .../pods/UID/volumes/PLUGIN/NAME, and one more directory for some plugins.
func volumeAt(mount string) (types.UID, string, bool) {
	parts := strings.Split(mount, "/")
	for i := len(parts) - 5; i >= 0; i-- {
		if parts[i] == "pods" && parts[i+2] == "volumes" && parts[i+1] != "" && parts[i+4] != "" {
			deeper := parts[i+5:]
			return types.UID(parts[i+1]), parts[i+4], len(deeper) == 0 || len(deeper) == 1 && deeper[0] == "mount"
		}
	}
	return "", "", false
}

// unescape reads the octal numbers by which the kernel writes blanks.
func unescape(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+3 < len(text) {
			if code, err := strconv.ParseUint(text[i+1:i+4], 8, 8); err == nil {
				out.WriteByte(byte(code))
				i += 3
				continue
			}
		}
		out.WriteByte(text[i])
	}
	return out.String()
}
