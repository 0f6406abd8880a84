// Package elasticworkers sizes the targets of ElasticWorkers to what nodes offer. A worker that is to go is marked first, by an annotation
// with its deadline, then drained, and only then is the target scaled down, so that a manager that ends at any point is continued by the
// next one. Everything that it has to remember is in the annotations and in the status.
package elasticworkers
