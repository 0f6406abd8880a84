// Package overview puts nodes and pods into rows: who holds, who uses and who is offered what. `koordctl top`, the TUI and
// the reports print these rows.
package overview
