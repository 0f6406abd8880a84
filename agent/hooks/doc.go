// Package hooks decides what a container gets when it is made: the cgroup values that the agent would set of it a moment later, and
// the environment and devices that cannot be set later at all. The values are what the agent's features want, asked about the one
// pod that is about to start; there is no second way to compute them. Packages below hand them to runtimes.
package hooks
