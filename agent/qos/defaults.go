package qos

// Defaults returns the features that an agent has on by default, in the order in which their values rank. Those that remember what they
// decided are given.
func Defaults(suppression *Suppression, burst *CPUBurst) []Feature {
	return []Feature{suppression, CPUSetAllocator{}, GroupIdentity{}, BatchResource{}, burst}
}
