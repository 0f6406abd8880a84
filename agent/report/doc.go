// Package report publishes what an agent measured: Status makes the status of a NodeMetric of it, without any I/O, and
// Writer sends that to the API server.
package report
