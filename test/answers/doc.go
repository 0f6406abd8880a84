// Package answers runs the questions that users of co-location ask, each on a cluster that reproduces it, and holds docs/answers.md against
// the answers. Each file of testdata is one question: its first document is the question with the commands that answer it, the others are
// the objects of the cluster.
package answers
