// Package diagnostics serves explanations of scheduling decisions over HTTPS, to clients that the cluster authenticates
// and authorizes.
package diagnostics
