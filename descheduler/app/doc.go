// Package app assembles koord-descheduler: its configuration, the connection to the cluster, leader election, and the secured port. What
// deschedules is listed in assemble.go.
package app
