// Package recommendationview shows what a Recommendation is based on, what it would save, and what applying it to running pods
// does and does not. It asks package recommend, which decides all of it, and adds nothing.
package recommendationview
