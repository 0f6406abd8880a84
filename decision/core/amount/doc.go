// Package amount counts and writes amounts of resources as Kubernetes' scheduler counts them.
package amount
