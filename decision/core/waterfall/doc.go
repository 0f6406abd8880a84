// Package waterfall computes a number step by step and writes the steps down: a running value to which terms are applied in
// order. The value and its explanation come out of the same steps, so one cannot drift from the other.
package waterfall
