// Package extension is the vocabulary of co-location on plain Kubernetes objects: labels, annotations, resource names,
// QoS classes and priority bands, each with functions that parse and format its value.
//
// Names and payloads are Koordinator's. The functions accept hostile input: values are bounded before they are
// decoded, nothing panics, and an error names the key. GetXxx returns nil without an error when the key is absent or
// empty. SetXxx with a nil value removes the key.
//
// +kubebuilder:object:generate=true
package extension
