// Package install holds the commands that put the system into a cluster, show what is there, and take it out again.
package install
