// Package printer turns results into text for people. Every printer is a pure function of a result and its options: no
// clock, no terminal, no environment. Numbers carry their unit, measurements their age. The TUI uses the same units,
// styles and width arithmetic.
package printer
