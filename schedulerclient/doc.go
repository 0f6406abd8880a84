// Package schedulerclient asks koord-scheduler's diagnostics port: koord-manager explains pods by it, and koord-descheduler plans moves.
package schedulerclient
