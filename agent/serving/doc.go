// Package serving is the agent's secured port: TLS with a certificate of its own, and nobody let in whom the cluster does not
// authenticate and authorize, but for the health of the process.
package serving
