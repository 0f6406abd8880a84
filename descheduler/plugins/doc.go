// Package plugins lists the plugins of koord-descheduler: those of sigs.k8s.io/descheduler, which run unchanged, and the project's own,
// which have a folder each.
package plugins
