// Package proposal is a change of the configuration on its way into the cluster: what it would do, and how it is written. The
// commands and the screens that change the configuration share it.
package proposal
