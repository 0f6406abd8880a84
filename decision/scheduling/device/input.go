package device

import (
	"koordinator.sh/koord/decision/scheduling/numa"
)

// Input is one question: does the request fit on the node, and on which devices.
type Input struct {
	Ledger  *Ledger
	Request *Request
	Policy  *Policy
	// Zones that devices may be in; none stands for all. Devices whose zone the kernel does not know are in all of them,
	// devices without a reported place in none.
	Zones numa.Mask
	// Preferred devices are taken where they suffice for the types of which there are some, such as those that the pod's
	// reservation holds; nil for none. They do not make a request fit that otherwise does not.
	Preferred *Allocation
	// DevicePlugin is what matters of the vendor's device plugin; nil where allocations are not adapted to it.
	DevicePlugin *DevicePlugin
}
