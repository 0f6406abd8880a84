// Package api is the root of the API module: Kubernetes types, labels, annotations and resource names of the
// system, for its own components and for other programs that want to read or write them.
package api
