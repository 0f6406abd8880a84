// Package workersview shows why the target of ElasticWorkers has the size it has. It takes the trace of the decision of koord-manager from
// the status, where the controller wrote it, and adds what the clock says about it.
package workersview
