// Package nodeextension decides what a node gets beside batch and mid resources: what its cpus are worth
// (decision/normalization), by how much it is shown larger than it is (decision/amplification), and its devices
// (decision/deviceresource).
package nodeextension
