// Package scarceresourceavoidance keeps pods that have no use for scarce resources, such as GPUs, off the nodes that have
// them, as long as there is room elsewhere.
package scarceresourceavoidance
