// Package manager assembles koord-manager: the controllers, which the leader runs, and on every replica the diagnostics
// API and the issuing of the serving certificates.
package manager
