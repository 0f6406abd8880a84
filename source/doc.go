// Package source is where the workbench's answers come from: a live cluster today, a support bundle or a recording
// later. Whatever stands behind it, the answers are the result types of the diagnostics API, so that the command line
// and the TUI print the same thing from every source.
package source
