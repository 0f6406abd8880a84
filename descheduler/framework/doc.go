// Package framework runs the plugins of koord-descheduler in passes.
//
// Plugins implement the interfaces of sigs.k8s.io/descheduler, so that its own run unchanged. They get a Handle whose Evictor evicts
// nothing: it creates a PodMigrationJob, which reserves resources elsewhere before the pod leaves, and records what was asked, by whom
// and with what result. A pass runs the Deschedule plugins of all profiles, then their Balance plugins, within limits that hold for all of
// them together. No plugin is let evict pods of a workload that goes in circles. A plugin that fails or panics ends its own part only.
package framework
