// Package custompriority is the plugin CustomPriority: it asks decision/descheduling/nodetiers which pods should leave expensive nodes,
// and evicts them.
package custompriority
