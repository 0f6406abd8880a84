// Package protections tells when what the API server refuses for the system is gone or weakened. What koord-manager may write it restores
// elsewhere; of what the chart made it can only tell, by a metric, an event and the log.
package protections
