package device

import (
	"cmp"
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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/agent/host"
	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// whole is all of a device, in percent.
const whole = 100

// maxDevices and maxFunctions bound what is reported of one kind, and of one card.
const (
	maxDevices   = 256
	maxFunctions = 256
)

// RDMA lists the cards in the tree at /sys, each with its virtual functions, numbered in the order of their buses. A machine without
// any has none.
func RDMA(sys string, machine host.Topology) ([]schedulingv1alpha1.DeviceInfo, error) {
	directory := filepath.Join(sys, "class/infiniband")
	entries, err := os.ReadDir(directory)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list network cards: %w", err)
	}
	var cards []schedulingv1alpha1.DeviceInfo
	seen := map[string]bool{}
	for _, entry := range entries {
		at := filepath.Join(directory, entry.Name())
		busID := linked(filepath.Join(at, "device"))
		_, virtual := os.Lstat(filepath.Join(at, "device/physfn"))
		if busID == "" || virtual == nil || seen[busID] || len(cards) >= maxDevices {
			continue // a card of two ports has two names and one bus
		}
		seen[busID] = true
		card := schedulingv1alpha1.DeviceInfo{
			Type: schedulingv1alpha1.RDMA, UUID: busID, Health: true, Topology: place(sys, busID, machine),
			Resources: corev1.ResourceList{extension.ResourceRDMA: *resource.NewQuantity(whole, resource.DecimalSI)},
		}
		if functions := functionsOf(at); len(functions) > 0 {
			card.VFGroups = []schedulingv1alpha1.VirtualFunctionGroup{{VFs: functions}}
		}
		if problem := down(at); problem != "" {
			unhealthy(&card, problem)
		}
		cards = append(cards, card)
	}
	slices.SortFunc(cards, func(a, b schedulingv1alpha1.DeviceInfo) int { return cmp.Compare(a.UUID, b.UUID) })
	for i := range cards {
		cards[i].Minor = new(int32(i))
	}
	return cards, nil
}

// linked is the last element of a link's target, which identifies a device; empty when there is no link, and when it is not a name.
func linked(link string) string {
	target, err := os.Readlink(link)
	if err != nil {
		return ""
	}
	name := filepath.Base(target)
	if strings.Trim(name, ".") == "" || name == string(filepath.Separator) {
		return ""
	}
	return name
}

// functionsOf a card, in their order: links called virtfn0, virtfn1 and so on.
func functionsOf(card string) []schedulingv1alpha1.VirtualFunction {
	entries, err := os.ReadDir(filepath.Join(card, "device") + "/")
	if err != nil {
		return nil
	}
	var functions []schedulingv1alpha1.VirtualFunction
	for _, entry := range entries {
		index, isFunction := strings.CutPrefix(entry.Name(), "virtfn")
		minor, err := strconv.Atoi(index)
		busID := linked(filepath.Join(card, "device", entry.Name()))
		if !isFunction || err != nil || minor < 0 || minor >= maxFunctions || strconv.Itoa(minor) != index || busID == "" {
			continue
		}
		functions = append(functions, schedulingv1alpha1.VirtualFunction{Minor: int32(minor), BusID: busID})
	}
	slices.SortFunc(functions, func(a, b schedulingv1alpha1.VirtualFunction) int { return cmp.Compare(a.Minor, b.Minor) })
	return functions
}

// down says why no port of a card is up; empty when one is, and when the state of the ports is unknown.
func down(card string) string {
	ports, err := os.ReadDir(filepath.Join(card, "ports"))
	if err != nil {
		return ""
	}
	states := []string{}
	for _, port := range ports {
		state, err := read(filepath.Join(card, "ports", port.Name(), "state"))
		if err != nil || strings.Contains(state, "ACTIVE") {
			return ""
		}
		states = append(states, fmt.Sprintf("port %s is %q", port.Name(), state))
	}
	return strings.Join(states, ", ")
}

// longestReason that a device is not well for, in bytes.
const longestReason = 1024

// unhealthy has a device not be allocated, and says why.
func unhealthy(device *schedulingv1alpha1.DeviceInfo, why string) {
	device.Health = false
	why = strings.ToValidUTF8(why[:min(len(why), longestReason)], "")
	device.Conditions = []metav1.Condition{{Type: "Healthy", Status: metav1.ConditionFalse, Reason: "DeviceUnhealthy", Message: why}}
}
