// Package phrase writes parts of the sentences in which answers are given.
package phrase
