// Package nodeextension decides what a node gets beside batch and mid resources: what its cpus are worth
// (decision/noderesource/normalization), by how much it is shown larger than it is (decision/noderesource/amplification), and its devices
// (decision/noderesource/deviceresource).
package nodeextension
