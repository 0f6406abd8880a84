// Package fanout answers how the same is done with many objects on all CPUs: each caller says what is done with one of them, and gets no answer
// before all are done.
package fanout
