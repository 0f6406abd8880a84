package device

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
)

// maxWhole bounds a number of whole devices, so that a hundredfold of it is an amount.
const maxWhole = amountLimit / 100

// invalidRequest is a request that no node can serve, with the reason that upstream gives.
type invalidRequest string

// senseless begins the text of every request that is refused for what it asks for.
const senseless = "invalid "

// invalidf is an invalidRequest; the format continues the word "invalid".
func invalidf(format string, operands ...any) error {
	return invalidRequest(senseless + fmt.Sprintf(format, operands...))
}

// Error implements error.
func (e invalidRequest) Error() string { return string(e) }

// normalize turns the request for devices of one type, under whatever names, into a number of devices and the amount of
// each. Resources of one type must be one of the combinations that combine allows.
func normalize(k kind, list corev1.ResourceList) (Demand, error) {
	demand := Demand{Type: typeNames[k], Asked: list, Count: 1, kind: k}
	flags, err := flagsOf(list)
	if err != nil {
		return demand, err
	}
	total, cards, ok := combine(flags, list)
	if !ok {
		return demand, invalidf("resource device requests: %v", slices.Sorted(maps.Keys(list)))
	}
	switch {
	case cards > 0:
		demand.Count = int(cards)
	case k == gpu && total[ratio] > 100 && total[ratio]%100 == 0:
		demand.Count = int(total[ratio] / 100)
	case k != gpu && total[k.first()] > 100:
		demand.Count = int(total[k.first()] / 100)
	}
	for d := range total {
		demand.Each[d] = total[d] / int64(demand.Count)
	}
	if k == gpu {
		demand.Shared = demand.Each[ratio] < 100
	} else {
		demand.Shared = demand.Each[k.first()] < 100
	}
	return demand, nil
}

// flagsOf says which resources are requested. Percentages above 100 must be whole devices.
func flagsOf(list corev1.ResourceList) (resourceFlags, error) {
	var flags resourceFlags
	for _, name := range slices.Sorted(maps.Keys(list)) {
		_, flag, _ := classify(name)
		flags |= flag
		quantity := list[name]
		if quantity.Sign() < 0 || flag&(flagGPU|flagRDMA|flagFPGA) != 0 && !wholeOrShare(bounded(quantity)) {
			return 0, invalidf("resource unit %s: %s", name, quantity.String())
		}
	}
	return flags, nil
}

func wholeOrShare(percent int64) bool { return percent <= 100 || percent%100 == 0 }

// combine checks a combination of resources and returns the sum over all devices, with the number of devices where the
// request states it, else 0.
func combine(flags resourceFlags, list corev1.ResourceList) (total Amount, cards int64, ok bool) {
	value := func(name corev1.ResourceName) int64 { quantity := list[name]; return bounded(quantity) }
	switch flags {
	case flagNvidia:
		return wholeGPUs(value(extension.ResourceNvidiaGPU))
	case flagAMD:
		return wholeGPUs(value(extension.ResourceAMDGPU))
	case flagDCU:
		return wholeGPUs(value(extension.ResourceHygonDCU))
	case flagGPU:
		total[core], total[ratio] = value(extension.ResourceGPU), value(extension.ResourceGPU)
		return total, 0, true
	}
	total = amountOf(list)
	switch flags {
	case flagMemory, flagRatio, flagCore | flagMemory, flagCore | flagRatio, flagNPUCore | flagRatio:
		return total, 0, wholeOrShare(total[core]) && wholeOrShare(total[ratio])
	case flagRDMA, flagFPGA:
		return total, 0, true
	case flagShared | flagMemory, flagShared | flagRatio, flagShared | flagCore | flagMemory, flagShared | flagCore | flagRatio:
		cards = value(extension.ResourceGPUShared)
		return total, cards, cards > 0 && cards <= maxWhole && splits(total[core], cards) && splits(total[ratio], cards)
	case flagShared | flagNPUCore | flagNPUCPU | flagMemory, flagShared | flagNPUCore | flagNPUCPU | flagNPUDVPP | flagMemory:
		cards = value(extension.ResourceGPUShared) // devices do not support shares of several NPUs
		return total, cards, cards == 1 && total[npuDVPP] <= 100
	}
	return total, 0, false
}

func wholeGPUs(count int64) (Amount, int64, bool) {
	var total Amount
	total[core], total[ratio] = count*100, count*100
	return total, 0, count <= maxWhole
}

// splits is true when a percentage is the same whole number, at most 100, on each card.
func splits(percent, cards int64) bool { return percent%cards == 0 && percent/cards <= 100 }
