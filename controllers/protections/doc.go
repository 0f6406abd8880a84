// Package protections reports admission policies and webhook configurations of the chart that are missing or modified, by a
// metric, an event and the log: koord-manager has no permission to restore them. Those that it manages are restored elsewhere.
package protections
