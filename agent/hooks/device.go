package hooks

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/device"
)

// Device is a character device.
type Device struct {
	// Path in the container and on the machine.
	Path string
	// Major and Minor number of the device.
	Major, Minor int64
}

// Environment variables by which containers find their GPUs.
const (
	envVisibleGPUs = "NVIDIA_VISIBLE_DEVICES"
	envGPUMemory   = "CUDA_DEVICE_MEMORY_LIMIT"
	envGPUCore     = "CUDA_DEVICE_SM_LIMIT"
	envPreload     = "LD_PRELOAD"
	// preloaded is HAMi's library, which holds a process to its share of a GPU.
	preloaded = "/usr/local/vgpu/libvgpu.so"
)

// inject adds what the scheduler gave to the pod.
func (a *Adjustment) inject(in qos.NodeSnapshot, injection Injection, pod *corev1.Pod) {
	if !injection.GPUs && !injection.RDMA {
		return
	}
	allocated, err := grantedTo(in, pod)
	if err != nil {
		a.Problems = append(a.Problems, err)
	}
	if gpus := allocated[schedulingv1alpha1.GPU]; injection.GPUs && len(gpus) > 0 {
		a.Env = gpuEnv(gpus, pod.Labels[extension.LabelGPUIsolationProvider] == extension.GPUIsolationProviderHAMICore)
	}
	if cards := allocated[schedulingv1alpha1.RDMA]; injection.RDMA && len(cards) > 0 && in.Sys != nil {
		devices, err := rdmaDevices(in.Sys, cards)
		a.Devices = devices
		if err != nil {
			a.Problems = append(a.Problems, err)
		}
	}
}

// grantedTo are the devices of a pod, as decided over all pods of the node. The error says what the pod claims beyond them.
func grantedTo(in qos.NodeSnapshot, pod *corev1.Pod) (extension.DeviceAllocations, error) {
	if pod.Annotations[extension.AnnotationDeviceAllocated] == "" {
		return nil, nil
	}
	pods := []*corev1.Pod{pod}
	for _, other := range in.Pods {
		if other.Object.UID != pod.UID {
			pods = append(pods, other.Object)
		}
	}
	owner := device.Owners(pods)[0]
	var err error
	if owner.Problem != "" {
		err = fmt.Errorf("devices of pod %s/%s: %s", pod.Namespace, pod.Name, owner.Problem)
	}
	return owner.Allocation.Annotation(), err
}

// gpuEnv names the GPUs by their minor numbers, and for HAMi the share of each.
func gpuEnv(gpus []*extension.DeviceAllocation, isolated bool) map[string]string {
	var minors []int32
	for _, gpu := range gpus {
		minors = append(minors, gpu.Minor)
	}
	slices.Sort(minors)
	var names []string
	for _, minor := range slices.Compact(minors) {
		names = append(names, strconv.FormatInt(int64(minor), 10))
	}
	env := map[string]string{envVisibleGPUs: strings.Join(names, ",")}
	if !isolated {
		return env
	}
	env[envPreload] = preloaded
	if memory, found := gpus[0].Resources[extension.ResourceGPUMemory]; found {
		env[envGPUMemory] = strconv.FormatInt(memory.Value(), 10)
	}
	if core, found := gpus[0].Resources[extension.ResourceGPUCore]; found {
		env[envGPUCore] = strconv.FormatInt(core.Value(), 10)
	}
	return env
}

// pciAddress of a device, such as 0000:09:00.1.
var pciAddress = regexp.MustCompile(`^[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]$`)

// rdmaDevices are the verbs of network cards, of their virtual functions where some were given, and the connection manager. It
// returns those that there are, and an error for those that are not.
func rdmaDevices(sys files.FS, cards []*extension.DeviceAllocation) ([]Device, error) {
	manager, err := deviceAt(sys, "class/misc/rdma_cm")
	if err != nil {
		return nil, err
	}
	out := []Device{manager}
	for _, card := range cards {
		addresses := []string{card.ID}
		if card.Extension != nil && len(card.Extension.VirtualFunctions) > 0 {
			addresses = nil
			for _, function := range card.Extension.VirtualFunctions {
				addresses = append(addresses, function.BusID)
			}
		}
		for _, address := range addresses {
			verbs, problem := verbsOf(sys, address)
			out = append(out, verbs...)
			err = cmp.Or(err, problem)
		}
	}
	return out, err
}

// verbsOf finds the verbs of the card at an address.
func verbsOf(sys files.FS, address string) ([]Device, error) {
	if !pciAddress.MatchString(address) {
		return nil, fmt.Errorf("find the verbs of a network card: %.40q is not an address of a device", address)
	}
	at := path.Join("bus/pci/devices", address, "infiniband_verbs")
	names, err := sys.Directories(at)
	if err != nil {
		return nil, fmt.Errorf("find the verbs of network card %q: %w", address, err)
	}
	slices.Sort(names)
	var out []Device
	for _, name := range names {
		device, err := deviceAt(sys, path.Join(at, name))
		if err != nil {
			return out, err
		}
		out = append(out, device)
	}
	return out, nil
}

// majorBits and minorBits are what the kernel numbers devices with.
const (
	majorBits = 12
	minorBits = 20
)

// deviceAt reads the numbers of a device from its directory in /sys. Its file is named like that.
func deviceAt(sys files.FS, at string) (Device, error) {
	content, err := sys.Read(path.Join(at, "dev"), nil)
	if err != nil {
		return Device{}, fmt.Errorf("find device %q: %w", path.Base(at), err)
	}
	majorText, minorText, _ := strings.Cut(strings.TrimSpace(string(content)), ":")
	major, majorErr := strconv.ParseUint(majorText, 10, majorBits)
	minor, minorErr := strconv.ParseUint(minorText, 10, minorBits)
	if majorErr != nil || minorErr != nil {
		return Device{}, fmt.Errorf("find device %q: %.40q are no numbers of a device", path.Base(at), content)
	}
	return Device{Path: "/dev/infiniband/" + path.Base(at), Major: int64(major), Minor: int64(minor)}, nil
}
