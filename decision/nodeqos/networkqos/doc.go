// Package networkqos decides how much of a node's bandwidth classes and pods are guaranteed and bounded to. A percentage is of
// the node's bandwidth; a text is bits per second, such as 50M. The enforcing component may count in bits or in bytes:
// both come from the same figure.
package networkqos
