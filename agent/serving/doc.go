// Package serving is the agent's secured port: TLS with its own certificate, and no client let in whom the cluster does not
// authenticate and authorize, but for the health of the process.
package serving
