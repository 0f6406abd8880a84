// Package recommendationview tells of a Recommendation what it rests on, what it would save, and what applying it to running pods
// does and does not. It asks package recommend, which decides all of it, and adds nothing of its own.
package recommendationview
