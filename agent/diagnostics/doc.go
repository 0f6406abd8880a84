// Package diagnostics answers questions about a node out of its agent: explanations for the manager, the audit log, and metrics.
package diagnostics
