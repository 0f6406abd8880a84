// Package app assembles koord-scheduler: the Kubernetes scheduler with this project's plugins, and beside it the server
// that explains its decisions. Flags and configuration are those of kube-scheduler, with a few more.
package app
