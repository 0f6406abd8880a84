// Package service has what the tutorials share that show an engine beside a service on one node: the service, requests to it, and what is
// measured meanwhile.
package service
