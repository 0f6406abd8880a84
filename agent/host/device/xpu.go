package device

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"koordinator.sh/koord/agent/host"
	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// maxFiles bounds how many files of other daemons are read.
const maxFiles = 32

// XPU is one accelerator as another daemon wrote it down.
type XPU struct {
	Vendor    string            `json:"vendor"`
	Model     string            `json:"model"`
	UUID      string            `json:"uuid"`
	Minor     integer           `json:"minor"`
	Resources map[string]string `json:"resources"`
	Topology  *struct {
		SocketID integer `json:"socketID"`
		NodeID   integer `json:"nodeID"`
		PCIEID   string  `json:"pcieID"`
		BusID    string  `json:"busID"`
	} `json:"topology"`
	Status *struct {
		Healthy bool   `json:"healthy"`
		ErrCode string `json:"errCode"`
		ErrMsg  string `json:"errMessage"`
	} `json:"status"`
}

// integer is written as a number or as text.
type integer int32

// UnmarshalJSON implements json.Unmarshaler.
func (i *integer) UnmarshalJSON(data []byte) error {
	value, err := strconv.ParseInt(strings.Trim(string(data), `"`), 10, 32)
	if err != nil {
		return fmt.Errorf("%.32q is not an integer", data)
	}
	*i = integer(value)
	return nil
}

// XPUs reads all files in a directory, each a list; none when there is no directory. A file or device that cannot be understood is
// left out and named in the error.
func XPUs(directory string, machine host.Topology) ([]schedulingv1alpha1.DeviceInfo, error) {
	entries, err := os.ReadDir(directory)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list accelerators: %w", err)
	}
	var out []schedulingv1alpha1.DeviceInfo
	var problems []error
	seen := map[int32]string{}
	for _, entry := range entries[:min(len(entries), maxFiles)] {
		if !entry.Type().IsRegular() || strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		list, err := load(filepath.Join(directory, entry.Name()))
		problems = append(problems, err)
		for i := range list {
			device, err := list[i].device(machine)
			if err == nil && seen[*device.Minor] != "" {
				err = fmt.Errorf("minor %d is that of %.64q as well", *device.Minor, seen[*device.Minor])
			}
			if err != nil || len(out) >= maxDevices {
				problems = append(problems, fmt.Errorf("accelerator %.64q of %q: %w", list[i].UUID, entry.Name(), cmp.Or(err, errTooMany)))
				continue
			}
			seen[*device.Minor] = device.UUID
			out = append(out, device)
		}
	}
	slices.SortFunc(out, func(a, b schedulingv1alpha1.DeviceInfo) int { return cmp.Compare(*a.Minor, *b.Minor) })
	return out, errors.Join(problems...)
}

var errTooMany = fmt.Errorf("there are more than %d", maxDevices)

func load(name string) ([]XPU, error) {
	content, err := read(name)
	if err != nil {
		return nil, fmt.Errorf("read accelerators: %w", err)
	}
	var list []XPU
	if err := json.Unmarshal([]byte(content), &list); err != nil {
		return nil, fmt.Errorf("read accelerators: decode %q: %w", name, err)
	}
	return list, nil
}

// device as it is reported: to the scheduler every accelerator is a GPU.
func (x *XPU) device(machine host.Topology) (schedulingv1alpha1.DeviceInfo, error) {
	if x.UUID == "" || x.Minor < 0 {
		return schedulingv1alpha1.DeviceInfo{}, errors.New("it has no UUID or no minor number")
	}
	out := schedulingv1alpha1.DeviceInfo{
		Type: schedulingv1alpha1.GPU, UUID: x.UUID, Minor: new(int32(x.Minor)), Health: true, Resources: corev1.ResourceList{},
		Labels: labels(x.Vendor, x.Model),
	}
	for name, text := range x.Resources {
		amount, err := resource.ParseQuantity(text)
		if err != nil || amount.Sign() < 0 {
			return schedulingv1alpha1.DeviceInfo{}, fmt.Errorf("%.32q of resource %.64q is not an amount", text, name)
		}
		out.Resources[corev1.ResourceName(name)] = amount
	}
	if t := x.Topology; t != nil {
		out.Topology = &schedulingv1alpha1.DeviceTopology{SocketID: int32(t.SocketID), NodeID: int32(t.NodeID), PCIEID: t.PCIEID, BusID: t.BusID}
	}
	if s := x.Status; s != nil && !s.Healthy {
		unhealthy(&out, strings.TrimSpace(s.ErrCode+" "+s.ErrMsg))
	}
	return out, nil
}

// labels to select devices by.
func labels(vendor, model string) map[string]string {
	out := map[string]string{}
	for key, value := range map[string]string{extension.LabelGPUVendor: vendor, extension.LabelGPUModel: model} {
		if value = labelValue(value); value != "" {
			out[key] = value
		}
	}
	return out
}

// labelValue makes a text one that a label may have.
func labelValue(text string) string {
	text = strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '-' || r == '_' || r == '.' {
			return r
		}
		return '-'
	}, text)
	return strings.Trim(text[:min(len(text), 63)], "-_.")
}
