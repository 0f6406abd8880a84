// Package tutorial shows co-location with real engines, step by step, on a sandbox with a real node. A tutorial is declared once, as a
// list of steps: `koordctl tutorial NAME` runs it, a test runs it, and its page of docs/tutorials is written from such a run. A further
// one is a package with a function that returns a Tutorial, and a line in kubectl-plugin/tutorials.go.
package tutorial
