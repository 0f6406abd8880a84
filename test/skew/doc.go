// Package skew tests the system on API servers and controller managers of other minor versions of Kubernetes than the one that it is
// built from. It needs the programs of `make kubernetes-skew`, and is skipped where they are missing.
package skew
