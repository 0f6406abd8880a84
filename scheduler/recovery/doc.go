// Package recovery turns a panic of one of the scheduler's own plugins into a refusal of the pod that caused it, so that a fault
// in one plugin does not end the scheduler for all pods.
//
// Every extension point of a plugin begins with a deferred call of this package; test/architecture checks that. The panic is
// counted in scheduler_plugin_panics_total and logged with its stack once for each plugin and extension point.
package recovery
