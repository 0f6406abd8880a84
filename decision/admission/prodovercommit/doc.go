// Package prodovercommit decides what prod pods request where their limits are overcommitted: request = limit / factor, with
// the factor of a colocation profile or of the namespace.
package prodovercommit
